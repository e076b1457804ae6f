/**
 * The condition for a SKU that would not be stored like this, since what nobody sees in it would be cleaned on its way in. Such
 * SKUs come from others who write to the table. They are few, and an index finds them for statements with the same condition.
 */
export const UNCLEAN_SKU = "(sku ~ '^[\\t-\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\u00ad\\u180e\\u200b\\u2060\\ufeff\\u200c-\\u200f\\u202a-\\u202e\\u2066-\\u2069]|[\\t-\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\u00ad\\u180e\\u200b\\u2060\\ufeff\\u200c-\\u200f\\u202a-\\u202e\\u2066-\\u2069]$|[\\t-\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]{2}|[\\t-\\r\\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\u00ad\\u180e\\u200b\\u2060\\ufeff]' or sku is not nfc normalized)"
