/** The tag of tools whose results can be large. */
export const LARGE_TAG = 'large'
/** How the description of a deprecated tool begins. */
export const DEPRECATED = 'Deprecated. '
