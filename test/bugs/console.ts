import type { Bug } from './bug.ts'

const noticedBy = 'test/pure.test.ts'

export const bugs: readonly Bug[] = [
  {
    suffered: 'a price that is typed for the night of a clock change begins an hour off',
    file: 'src/catalog/zoned.ts',
    before: 'return new Date(utc - offsetAt(guess, timeZone)).toISOString()',
    after: 'return new Date(guess).toISOString()',
    noticedBy
  },
  {
    suffered: 'a time is shown in the zone of the browser, and saved in that of the shop',
    file: 'src/catalog/zoned.ts',
    before: 'Date.parse(instant) + offsetAt(Date.parse(instant), timeZone)',
    after: 'Date.parse(instant)',
    noticedBy
  },
  {
    suffered: 'the activity of an evening is listed under the day of UTC',
    file: 'src/activity/entry.ts',
    before: "new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric'",
    after: "new Intl.DateTimeFormat('en-CA', { timeZone: 'UTC', year: 'numeric'",
    noticedBy
  },
  {
    suffered: 'a sale is drawn for the moment when it is over',
    file: 'src/catalog/price-line.ts',
    before: 'start <= at && at < end',
    after: 'start <= at && at <= end',
    noticedBy
  },
  {
    suffered: 'the price for ten pieces is drawn as that of one',
    file: 'src/catalog/price-line.ts',
    before: 'price.currency === currency && price.min_quantity <= 1',
    after: 'price.currency === currency',
    noticedBy
  },
  {
    suffered: 'every key is said to expire soon',
    file: 'src/agents/key.ts',
    before: 'Date.parse(end) - now < SOON',
    after: 'now - Date.parse(end) < SOON',
    noticedBy
  },
  {
    suffered: 'a key that should last until a day ends before that day is over where the shop is',
    file: 'src/agents/key.ts',
    before: 'T23:59:59`, timeZone)',
    after: "T23:59:59`, 'UTC')",
    noticedBy
  },
  {
    suffered: 'a category can be moved below its own grandchild',
    file: 'src/catalog/tree.ts',
    before: 'for (let size = 0; size < family.size;) {\n    size = family.size\n',
    after: '{\n',
    noticedBy
  },
  {
    suffered: 'categories below one that was deleted are in no list',
    file: 'src/catalog/tree.ts',
    before: 'parent !== null && ids.has(parent) ? parent : null',
    after: 'parent',
    noticedBy
  },
  {
    suffered: 'saving a form sends every field, and overwrites what others changed meanwhile',
    file: 'src/api/changes.ts',
    before: 'value !== undefined && !same(before[name], value)',
    after: 'value !== undefined && before[name] !== value',
    noticedBy
  },
  {
    suffered: 'a product is created twice: a write that a busy server refused is sent again',
    file: 'src/api/http.ts',
    before: "method === 'GET' ? RETRIES[tries] : undefined",
    after: 'RETRIES[tries]',
    noticedBy
  },
  {
    suffered: 'after a token ends early, every page fails until it is reloaded',
    file: 'src/api/http.ts',
    before: 'await session.token(token, isWanted)',
    after: 'await session.token(undefined, isWanted)',
    noticedBy
  },
  {
    suffered: 'lists of large records lack some: a page that ends early counts as full',
    file: 'src/api/http.ts',
    before: 'rows.length >= most) return { rows, total }\n    skip = next',
    after: 'rows.length >= most) return { rows, total }\n    skip += PAGE',
    noticedBy
  },
  {
    suffered: 'of a bulk action that fails in the middle, the rest is done all the same',
    file: 'src/api/in-turn.ts',
    before: 'if (failure !== undefined) return\n',
    after: '',
    noticedBy
  },
  {
    suffered: 'a person is offered to link a customer that another account has',
    file: 'src/reconcile/run.ts',
    before: 'candidates.some(({ linked }) => !linked)',
    after: 'candidates.length > 0',
    noticedBy
  },
  {
    suffered: 'an empty cell of a file that was saved says null',
    file: 'src/catalog/csv.ts',
    before: 'if (value === null || value === undefined) return null',
    after: 'if (value === undefined) return null',
    noticedBy
  },
  {
    suffered: 'a refusal for want of rights is shown at a field, as if it were wrong',
    file: 'src/api/problem.ts',
    before: '[409, 422].includes(status) && problem.field !== undefined',
    after: 'problem.field !== undefined',
    noticedBy
  },
  {
    suffered: 'a price in yen becomes a hundredth of itself in dollars',
    file: 'src/money.ts',
    before: 'const more = digitsOf(to) - digitsOf(from)',
    after: 'const more = 0',
    noticedBy
  },
  {
    suffered: 'a file with the name PRODUCTS.CSV is no list of products',
    file: 'src/catalog/import.ts',
    before: 'name.toLowerCase()',
    after: 'name',
    noticedBy
  },
  {
    suffered: 'three days ago is told as in three days',
    file: 'src/times.ts',
    before: '(new Date(at).getTime() - now) / 1000',
    after: '(now - new Date(at).getTime()) / 1000',
    noticedBy
  }
]
