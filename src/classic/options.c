/* SPDX-License-Identifier: MIT */
#include "classic/options.h"
