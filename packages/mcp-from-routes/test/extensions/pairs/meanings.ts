import type { Seen } from './endpoint.ts'
import type { Observed } from './world.ts'

type Alone = Readonly<Record<string, Observed>>
/** Writes into what is expected of a pair. */
type Meaning = (wanted: Observed, alone: Alone) => void

const ERAS = ['legacy', 'modern'] as const
const inMain = (write: (seen: Seen, alone: (name: string) => Seen) => void): Meaning => (wanted, alone) => {
  for (const era of ERAS) write(wanted.main[era], (name) => alone[name]!.main[era])
}

/** The question about `extra`, as it is asked about `ship`. */
function askedOfExtra (first: unknown): unknown {
  return JSON.parse(
    JSON.stringify(first).replace('Is that right?\\nid: “1”', 'Says the file').replaceAll('ship', 'extra')
  )
}

/** What two extensions mean together that neither means alone, each with where its page says so. */
export const MEANINGS: Readonly<Record<string, Meaning>> = {
  // confirm.md: hooks, validation and question come first. The choice of fields is no argument of the route.
  'confirm fields': inMain(({ call }, alone) => {
    call['ship {"id":1,"fields":["id"]}'].first = alone('confirm').call['ship {"id":1}'].first
  }),
  // whole-api.md: what an entry says takes precedence over the route, `confirm` too.
  'confirm review' (wanted, alone) {
    inMain(({ list, call, error }, alone) => {
      for (const tools of [list.tools, list.toolsForGuest]) {
        tools.extra.inputSchema.properties = tokenOf(alone('confirm').list.tools.ship)
      }
      call['extra {}'].first = askedOfExtra(alone('confirm').call['ship {"id":1}'].first)
      error.oldName = alone('review').error.oldName
    })(wanted, alone)
    const { extra } = (wanted.contract as { tools: Record<string, any> }).tools
    extra.confirm = 'token'
    extra.inputSchema.properties = tokenOf(alone.confirm!.main.legacy.list.tools.ship)
  },
  // tasks.md: the work starts with the 202, which comes after the question.
  'confirm tasks': inMain(({ call }, alone) => {
    call['build {}'].first = alone('confirm').call['build {}'].first
  }),
  // whole-api.md: the same for `fields`.
  'fields review' (wanted) {
    const argument = { type: 'array', items: { type: 'string', enum: ['isExtra'] }, description: 'Return only these' }
    inMain(({ list }) => {
      for (const tools of [list.tools, list.toolsForGuest]) tools.extra.inputSchema.properties = { fields: argument }
    })(wanted, {})
    const { extra } = (wanted.contract as { tools: Record<string, any> }).tools
    extra.inputSchema.properties = { fields: argument }
  },
  // tasks.md: clients are told which tool reads the status, if they have it. `report` is not in the set.
  'sets tasks' ({ set: { legacy: { call: { 'build {}': steps } } } }) {
    for (const { result: { content: [said] } } of Object.values(steps) as any[]) {
      said.text = said.text
        .replace(
          /Call report in .*? done\./,
          'Its status is at GET /reports/1, which no tool of yours reads. ' +
            'Tell the person, who can look there in 1 s.'
        )
    }
  },
  // tools.md: a search does not show tools that are for views alone.
  'search views' (wanted, alone) {
    for (const era of ERAS) {
      const { list, call } = wanted.search[era]
      delete list.found.other
      delete list.described.other
      call['other {}'] = JSON.parse(
        JSON.stringify(alone.search!.search[era].call['extra {}']).replaceAll('extra', 'other')
      )
    }
  }
}

function tokenOf ({ inputSchema: { properties: { confirm_token: token } } }: any): object {
  return { confirm_token: token }
}
