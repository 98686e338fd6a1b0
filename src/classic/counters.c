/* SPDX-License-Identifier: MIT */
#include "classic/counters.h"
