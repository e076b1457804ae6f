import type { Preview, WrongLine } from '../catalog/import.ts'
import type { Import as ImportSchema } from '../../../shop/src/imports/schemas.ts'
import { element } from './element.ts'
import { priceText } from '../money.ts'
import { connect, textOf, type ToolResult } from './host.ts'

/*
 * The view of import_products and get_import: what a file would change, the confirmation, and how far the import is,
 * with the lines that could not be applied.
 */

type Import = typeof ImportSchema['static']

const ENDED = { done: 'The import is done', failed: 'The import stopped', cancelled: 'The import was stopped' }
const OPEN = 'It may have been done all the same: look whether it was before you repeat it.'
/** Between two looks at an import, in milliseconds. */
const PACE = 1000

const title = element('h1', {}, 'Import of products')
const said = element('div', { role: 'status' }, 'Waiting for the file…')
const wrong = element('div', { role: 'alert', hidden: true })
const bar = element('progress', { 'aria-label': 'Progress of the import', hidden: true })
const button = element('button', { type: 'button', class: 'main', hidden: true })
const details = element('div')
document.body.append(element('main', {}, title, wrong, said, bar, button, details))

let args: Readonly<Record<string, unknown>> = {}
/** What the button does. */
let act = async (): Promise<void> => {}

const host = await connect('shop-import', {
  input (given) {
    args = given
  },
  result: show,
  cancelled () {
    said.textContent = 'The call was cancelled.'
  }
})

button.addEventListener('click', async () => {
  button.disabled = true
  try {
    await act()
  } catch (error) {
    // The call has left, and no result has come.
    fail(`${(error as Error).message.replace(/\.$/, '')}. ${OPEN}`)
  } finally {
    button.disabled = false
  }
})

function show (result: ToolResult): void {
  const data = dataIn(result)
  if (result.isError === true || data === undefined) return fail(textOf(result))
  wrong.hidden = true
  if ('changed_prices' in data) preview(data as Preview)
  else progress(data as Import)
}

function preview (
  { total, created, updated, unchanged, price_changes: changes, changed_prices: prices, warnings, failed, errors }:
    Preview
): void {
  title.textContent = 'Before the import'
  said.textContent =
    `${total} products in the file: ${created} new, ${updated} changed, ${unchanged} as they are. ${changes} ` +
    'prices change.'
  // A file with a wrong line is refused, unless the call leaves such lines out.
  const mayImport = host.mayCall && (failed === 0 || args['skip_invalid'] === true) && created + updated > 0
  offer(mayImport && `Import ${created + updated} products`, async () => {
    const { dry_run: _, ...rest } = args
    said.textContent = 'Starting…'
    show(await host.call('import_products', rest))
  })
  details.replaceChildren(
    ...warnings.map((warning) => element('p', {}, warning)),
    ...table(
      'Prices that change',
      ['Product', 'Now', 'Then'],
      prices.map((
        { name, before, after }
      ) => [
        element('bdi', {}, name),
        element('del', {}, priceText(before, host.locale)),
        element('ins', {}, after === null ? 'No price' : priceText(after, host.locale))
      ])
    ),
    ...changes > prices.length ? [element('p', { class: 'quiet' }, `and ${changes - prices.length} more`)] : [],
    ...wrongLines(errors, failed)
  )
}

function progress (state: Import): void {
  const { id, shop_id: shop, status, total, processed, created, updated, unchanged, failed, error, warnings, errors } =
    state
  const isOver = status in ENDED
  title.textContent = isOver ? ENDED[status as keyof typeof ENDED] : 'Importing…'
  said.textContent =
    `${processed} of ${total} lines: ${created} created, ${updated} changed, ${unchanged} as they were, ` +
    `${failed} wrong.${error === null ? '' : ` ${error}`}`
  bar.hidden = false
  bar.max = Math.max(total, 1)
  bar.value = processed
  details.replaceChildren(...warnings.map((warning) => element('p', {}, warning)), ...wrongLines(errors, failed))
  const look = async (): Promise<void> => {
    show(await host.call('get_import', { shop_id: shop, import_id: id }))
  }
  offer(!isOver && host.mayCall && 'Stop', async () => {
    await host.call('cancel_import', { shop_id: shop, import_id: id })
    await look()
  })
  // Another look at the same import, not one more beside it.
  clearTimeout(next)
  if (!isOver && host.mayCall) {
    next = setTimeout(() => {
      look().catch((error: Error) => {
        fail(error.message)
      })
    }, PACE)
  }
}

let next: ReturnType<typeof setTimeout> | undefined

/** @param label - of the button; false for none */
function offer (label: string | false, action: () => Promise<void>): void {
  button.hidden = label === false
  if (label !== false) button.textContent = label
  act = action
}

function wrongLines (errors: readonly WrongLine[], count: number): readonly HTMLElement[] {
  return [
    ...table(
      'Wrong lines',
      ['Line', 'Field', 'What is wrong'],
      errors.map(({ line, field, message }) => [String(line), element('bdi', {}, field), element('bdi', {}, message)])
    ),
    ...count > errors.length ? [element('p', { class: 'quiet' }, `and ${count - errors.length} more`)] : []
  ]
}

function table (
  caption: string,
  columns: readonly string[],
  rows: ReadonlyArray<ReadonlyArray<Node | string>>
): readonly HTMLElement[] {
  if (rows.length === 0) return []
  return [
    element('h2', {}, caption),
    element(
      'div',
      { class: 'wide', tabindex: 0, role: 'region', 'aria-label': caption },
      element(
        'table',
        {},
        element('thead', {}, element('tr', {}, ...columns.map((column) => element('th', { scope: 'col' }, column)))),
        element(
          'tbody',
          {},
          ...rows.map((cells) => element('tr', {}, ...cells.map((cell) => element('td', {}, cell))))
        )
      )
    )
  ]
}

function fail (message: string): void {
  wrong.textContent = message
  wrong.hidden = false
  said.textContent = ''
}

/** The record that a tool returned. What starts work has it as text only, after a sentence for the model. */
function dataIn ({ structuredContent, content = [] }: ToolResult): object | undefined {
  if (structuredContent !== undefined) return structuredContent as object
  for (const { text = '' } of content) {
    try {
      const value: unknown = JSON.parse(text)
      if (typeof value === 'object' && value !== null) return value
    } catch {}
  }
  return undefined
}
