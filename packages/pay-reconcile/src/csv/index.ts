import { Type } from '@sinclair/typebox'
import { oneOf } from '../admin/schemas.ts'
import type { Extension, FileFormat } from '../extension.ts'
import { sendCsv, wantsCsv } from './reply.ts'
import { auditTable, itemTable } from './tables.ts'

const file: FileFormat = {
  parameters: {
    format: Type.Optional(
      oneOf(['json', 'csv'], 'csv: all records that match as a file, without skip, limit and range')
    )
  },
  response: (schema, description) => ({
    description,
    content: {
      'application/json': { schema },
      'text/csv': { schema: Type.String({ description: 'RFC 4180, with a line of names' }) }
    }
  }),
  isWanted: wantsCsv,
  sendItems: (reply, items) => sendCsv(reply, itemTable, items),
  sendChanges: (reply, changes) => sendCsv(reply, auditTable, changes)
}

/**
 * Sends the changes of accounts and the items of a run as a CSV file, if a request has `format=csv`.
 * @returns for the option `extensions`
 */
export function csv (): Extension {
  return { name: 'pay-reconcile/csv', install: () => ({ file }) }
}
