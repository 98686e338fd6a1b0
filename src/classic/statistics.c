/* SPDX-License-Identifier: MIT */
#include "classic/statistics.h"
