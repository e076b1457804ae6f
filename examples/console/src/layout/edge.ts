/** How high the banner at the lower edge of the screen is. */
export const BANNER_HEIGHT = '--banner'

/** Where what stays at the lower edge of the screen ends: above the banner. */
export const EDGE = `var(${BANNER_HEIGHT}, 0px)`
