/* SPDX-License-Identifier: MIT */
#include "classic/own_format.h"
