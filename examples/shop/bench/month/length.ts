/** How long a day of the month is, in milliseconds; a night is the end of it. */
export const NIGHT = 120_000
