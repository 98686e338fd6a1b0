#!/bin/sh
# SPDX-License-Identifier: MIT
exec python3 test/compare/seed.py
