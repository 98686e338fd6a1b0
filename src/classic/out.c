/* SPDX-License-Identifier: MIT */
#include "classic/out.h"
