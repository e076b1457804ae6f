/** Headers of one hop or one message, cookies, and the version of a route, which would lead to another route. */
export const NEVER_FORWARDED = /^(accept-encoding|accept-version|connection|content-.*|cookie|date|expect|host|if-.*|keep-alive|mcp-.*|proxy-.*|range|te|trailer|transfer-encoding|upgrade|:.*)$/
