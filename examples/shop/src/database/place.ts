import pg from 'pg'

/** The database and host that a URL leads to, for people: `shop at db.example:5432`. Never a user or a password. */
export function placeFrom (url: string): string {
  const { database, host, port } = new pg.Client({ connectionString: url })
  return `${database} at ${host}:${port}`
}
