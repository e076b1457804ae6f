import { DUAL_AUTH_OWNER_UNKNOWN } from '../errors.ts'

/*
 * Errors of PostgreSQL that are not failures of the database. Hosts may change the type of the column of owner ids and
 * make it a foreign key; PostgreSQL then reports an owner that does not exist as an error.
 */

/** SQLSTATEs of a string that the column cannot hold: not a UUID, not a number, too large, too long. */
const NO_ID: readonly unknown[] = ['22P02', '22003', '22001']
const FOREIGN_KEY = '23503'
// `Key (owner_id)=(…) is not present in table "owners".`, in the server's language. Other foreign keys may fail too.
const COLUMNS = /^[^(]*\(([^()]*)\)/

interface DatabaseError {
  readonly code?: unknown
  readonly detail?: unknown
  readonly message?: unknown
}

/** Whether a statement whose only input is the owner's id failed because no owner can have that id. */
export function isInvalidOwnerId (error: DatabaseError): boolean {
  return NO_ID.includes(error.code)
}

/**
 * Tells whether a row was rejected because its owner does not exist.
 *
 * @param ownerColumn - the column with the owner's id
 */
export function isMissingOwner (ownerColumn: string): (error: DatabaseError) => boolean {
  return ({ code, detail }) =>
    code === FOREIGN_KEY && COLUMNS.exec(String(detail))?.[1]?.split(', ').includes(ownerColumn) === true
}

/** SQLSTATE class 42, or 3F000: a missing table, column or schema, or no right to read it. Waiting will not help. */
export function isSchemaError ({ code }: DatabaseError): boolean {
  return /^(42...|3F000)$/.test(String(code))
}

/**
 * Whether a named statement failed because of its name: the connection does not have it, or has another one of that
 * name, behind a pooler; or a column has got another type since the statement was prepared.
 */
export function isUnprepared ({ code }: DatabaseError): boolean {
  return code === '26000' || code === '42P05' || code === '0A000'
}

/** Returns the statement's result, or what `recover` returns if the statement failed in the expected way. */
export async function recovering<T> (
  isExpected: (error: DatabaseError) => boolean,
  statement: PromiseLike<T>,
  recover: (error: DatabaseError) => T | Promise<T>
): Promise<T> {
  try {
    return await statement
  } catch (error) {
    if (isExpected(error as DatabaseError)) return recover(error as DatabaseError)
    throw error
  }
}

/** @throws {@link DUAL_AUTH_OWNER_UNKNOWN} */
export function throwOwnerUnknown (): never {
  throw new DUAL_AUTH_OWNER_UNKNOWN()
}
