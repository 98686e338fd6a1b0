/* SPDX-License-Identifier: MIT */
#include "classic/digits.h"
