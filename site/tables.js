/** From how many columns on a table does not fit on a phone: its rows become cards there, see `style.css`. */
const WIDE = 3

/** The element of each kind of token, and the role that it keeps when the style shows it as a block. */
const ROLES = {
  table_open: 'table',
  thead_open: 'rowgroup',
  tbody_open: 'rowgroup',
  tr_open: 'row',
  th_open: 'columnheader',
  td_open: 'cell'
}

/** Gives each cell of a wide table the name of its column, which a card shows in place of the head. */
export function namedCells (md) {
  // VitePress's own rule would leave the class out.
  md.renderer.rules.table_open = (tokens, index, options, _env, self) => {
    tokens[index].attrSet('tabindex', '0')
    return self.renderToken(tokens, index, options)
  }
  md.core.ruler.push('named-cells', ({ tokens }) => {
    for (const [start, { type }] of tokens.entries()) {
      if (type !== 'table_open') continue
      const table = tokens.slice(
        start,
        tokens.findIndex((token, index) => index > start && token.type === 'table_close')
      )
      const columns = table.flatMap((token, index) => token.type === 'th_open' ? [textOf(table[index + 1])] : [])
      if (columns.length < WIDE) continue
      tokens[start].attrJoin('class', 'cards')
      let column = 0
      for (const token of table) {
        if (token.type in ROLES) token.attrSet('role', ROLES[token.type])
        if (token.type === 'tr_open') column = 0
        if (token.type === 'td_open') token.attrSet('data-column', columns[column++])
      }
    }
  })
}

const textOf = ({ children }) => children.map(({ content }) => content).join('')
