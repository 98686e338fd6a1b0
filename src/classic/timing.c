/* SPDX-License-Identifier: MIT */
#include "classic/timing.h"
