/** How large a record may be as JSON, in bytes. The database refuses larger ones. */
export const MAX_RECORD = 65_536
