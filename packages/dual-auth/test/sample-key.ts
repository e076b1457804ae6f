import type { NewApiKey } from '../src/index.ts'
import { newKey as sampleKey } from '../src/testing/check.ts'
import { OWNER } from './build.ts'

/** A row to insert, whose key nobody knows. */
export const newKey = (change: Partial<NewApiKey> = {}): NewApiKey =>
  sampleKey({ ownerId: OWNER, createdAt: new Date(), ...change })
