import { Type } from '@sinclair/typebox'
import { MAX_BATCH } from '../catalog/product-schemas.ts'
import { ActorKind } from '../history/schemas.ts'
import { verbatim } from '../http/text.ts'
import { AnyId, Currency, Nullable, Problem, serverFields, ShopParams, Uuid } from '../http/schemas.ts'
import { listRules } from '../lists/list.ts'

/** How many products a file may have. */
export const MAX_PRODUCTS = 10_000

/** How large it may be, in bytes. */
export const MAX_FILE = 16 * 1_048_576

/** How many lines are checked, or applied, at a time. */
export const CHUNK = Math.min(250, MAX_BATCH)

/** How many wrong lines a response lists. */
export const LISTED = 100

/** How many changed prices a preview names. */
export const LISTED_PRICES = 20

/** How many imports of a shop may be unfinished. */
export const MAX_UNFINISHED = 5

/** How an import ends. */
export const IMPORT_ENDS = ['done', 'failed', 'cancelled'] as const

export type ImportEnd = typeof IMPORT_ENDS[number]
export type ImportStatus = 'receiving' | 'pending' | 'running' | ImportEnd
export type LineStatus = 'pending' | 'created' | 'updated' | 'unchanged' | 'failed' | 'skipped'

const Count = (description: string) => Type.Integer({ description })
const When = (description: string) => Nullable(Type.String({ format: 'date-time', description }))
const Words = (description: string) => Type.String({ description })

export const ImportParams = Type.Object({ ...ShopParams.properties, import_id: Uuid() })

export const ImportQuery = Type.Object({
  skip_invalid: Type.Optional(
    Type.Boolean({
      default: false,
      description: 'Leave wrong lines and unknown columns out, instead of refusing the file'
    })
  ),
  dry_run: Type.Optional(Type.Boolean({ default: false, description: 'Only say what would change' })),
  file_name: Type.Optional(Type.String({ minLength: 1, maxLength: 255, description: 'Kept with the import' }))
}, { additionalProperties: false })

/** A file within JSON, for callers that send nothing else. */
export const ImportBody = Type.Object({
  format: Type.Unsafe<'csv' | 'jsonl'>({ type: 'string', enum: ['csv', 'jsonl'] }),
  content: verbatim(Type.String({ minLength: 1, description: 'The file' }))
}, { additionalProperties: false })

export const FailedLines = {
  description: 'The file',
  content: { 'text/csv': { schema: Type.String() }, 'application/x-ndjson': { schema: Type.String() } }
}

const WrongLine = Type.Object({
  line: Count('Of the file, from 1'),
  field: Words('Empty if it is the line as a whole'),
  message: Words('For people')
})

export const ImportProblem = Type.Object({
  ...Problem.properties,
  error_count: Type.Optional(Count('How many lines are wrong')),
  errors: Type.Optional(Type.Array(WrongLine, { description: `The first ${LISTED} of them` }))
}, { description: 'An error; nothing was imported' })

export const ImportPreview = Type.Object({
  total: Count('Products in the file'),
  created: Count('How many would be created'),
  updated: Count('How many would change'),
  unchanged: Count('How many are as the file says already'),
  price_changes: Count('How many would have another price'),
  prices: Type.Array(
    Type.Object({
      currency: Currency,
      lowest: Words('In the file, in major units: 19.99'),
      highest: Words('In the file'),
      lowest_before: Nullable(
        Words('Of the products that would have another price, as it is now; null if there are none')
      ),
      highest_before: Nullable(Words('The highest of these'))
    }),
    {
      description:
        'The prices of the file, by currency. Look at them: prices that are a hundred times too low are in minor units'
    }
  ),
  changed_prices: Type.Array(
    Type.Object({
      line: Count('Of the file, from 1'),
      name: Words('Of the product, as it is now'),
      before: Words('Its price in major units, and the currency: 19.99 EUR'),
      after: Nullable(Words('The one in the file; null for none'))
    }),
    { description: `The first ${LISTED_PRICES} products that would have another price` }
  ),
  warnings: Type.Array(Words('A sentence'), { description: 'What to look at before the import' }),
  unknown_columns: Type.Array(Words('As the file has it'), {
    description: 'Columns that no product has. They make the first line wrong; skip_invalid leaves them out'
  }),
  failed: Count('How many lines are wrong'),
  errors: Type.Array(WrongLine, { description: `The first ${LISTED} of them` })
}, { description: 'What an import would do' })

const fields = {
  id: serverFields.id,
  shop_id: serverFields.shop_id,
  status: Type.Unsafe<Exclude<ImportStatus, 'receiving'>>({
    type: 'string',
    enum: ['pending', 'running', ...IMPORT_ENDS],
    description: 'done: all lines were processed; failed: it stopped, see error'
  }),
  total: Count('Products in the file'),
  processed: Count('How many lines were processed'),
  created: Count('How many products were created'),
  updated: Count('How many were changed'),
  unchanged: Count('How many were as the file says already'),
  failed: Count('How many lines could not be applied'),
  error: Nullable(Words('Why it stopped')),
  actor_kind: ActorKind,
  actor_id: Nullable(AnyId('As in the history')),
  actor_name: Nullable(Words('The name of the person or API key; null for others')),
  file_name: Nullable(Words('As its sender called it')),
  created_at: serverFields.created_at,
  updated_at: serverFields.updated_at,
  started_at: When('When the first line was applied'),
  finished_at: When('When it ended')
}

/** An import in a list. */
export const ListedImport = Type.Object(fields)

export const Import = Type.Object({
  ...fields,
  reverted: Count('How many of its changes were undone'),
  warnings: Type.Array(Words('A sentence'), { description: 'What its check said, such as what was left out' }),
  errors: Type.Array(WrongLine, { description: `The first ${LISTED} lines that could not be applied` })
})

export const ImportLine = Type.Object({
  id: Words('The line as a string'),
  line: Count('Of the file, from 1: where the product begins'),
  status: Type.Unsafe<LineStatus>({
    type: 'string',
    enum: ['pending', 'created', 'updated', 'unchanged', 'failed', 'skipped'],
    description: 'skipped: the import ended before it'
  }),
  product_id: Nullable(Uuid('The product')),
  change_id: Nullable(Uuid('Its entry in the history; null if nothing changed')),
  field: Nullable(Words('The field that is wrong')),
  message: Nullable(Words('What is wrong'))
})

export const list = listRules(ListedImport, { sort: '-created_at' })
export const lineList = listRules(ImportLine, { sort: 'line' })
