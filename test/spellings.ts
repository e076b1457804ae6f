/*
 * What people and their programs write in more than one way. Every limit, id and header is tried with each, so that
 * none is read by one part of a server and not by the next.
 */

/** The scheme of `Authorization` has no case, RFC 9110 §11.1. */
export const schemes: readonly string[] = ['Bearer', 'bearer', 'BEARER']

/** Single letters, by how many bytes of UTF-8 and how many units of UTF-16 they are. */
export const letters = {
  a: { bytes: 1, units: 1 },
  ü: { bytes: 2, units: 1 },
  日: { bytes: 3, units: 1 },
  '\u{1f511}': { bytes: 4, units: 2 },
  ü: { bytes: 3, units: 2 }
} as const
