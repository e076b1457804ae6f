import { Box, Table, TableBody, TableCell, TableHead, TableRow } from '@mui/material'
import { createContext, type ReactNode, useContext } from 'react'

/**
 * For what is around a table: where that is narrow, which depends on the menu too, each row folds into a name with
 * facts below it, and buttons at its end. What sorts and selects stays above them. The elements say what they are:
 * some browsers take a table that is laid out otherwise for none.
 */
export const foldsBelow = (width: number) => ({
  containerType: 'inline-size',
  overflowX: 'auto',
  [`@container (max-width: ${width}px)`]: {
    '& table, & thead, & tbody': { display: 'block' },
    '& tr': {
      display: 'flex',
      flexWrap: 'wrap',
      alignItems: 'center',
      columnGap: 1.5,
      rowGap: 0.5,
      px: 2,
      py: 1,
      position: 'relative',
      height: 'auto',
      borderBottom: 1,
      borderColor: 'divider'
    },
    '& tbody tr:last-child': { borderBottom: 0 },
    '& thead:not(:has([role=button])), & thead th:not(:has([role=button], input))': { display: 'none' },
    '& tr > :is(td, th)': {
      width: 'auto',
      minWidth: 0,
      maxWidth: '100%',
      p: 0,
      border: 0,
      textAlign: 'start',
      overflowWrap: 'anywhere'
    },
    // Room for the arrow of the sorted one only.
    '& thead [role=button]:not(.Mui-active) svg': { display: 'none' },
    '& tbody th': { flex: '1 1 100%' },
    '& tbody th[data-label]::before': { content: "attr(data-label) ' '" },
    // Beside a checkbox.
    '& tbody td + th': { flex: '1 1 calc(100% - 4rem)' },
    '& tbody th > a': { minWidth: 0 },
    '& tbody tr:has(> [data-end]) th': { pr: 6 },
    '& tbody td:is(:empty, :has(> :only-child:empty))': { display: 'none' },
    '& tbody td[data-label]': { fontSize: '.82rem' },
    '& tbody td[data-label]::before': {
      content: "attr(data-label) ': '",
      color: 'text.secondary'
    },
    '& tbody td[data-label] > *': { display: 'inline-flex', verticalAlign: 'baseline', minWidth: 0 },
    '& tbody td[data-label] > .MuiTypography-root': { fontSize: 'inherit' },
    '& tbody td[data-end]': { position: 'absolute', top: 4, insetInlineEnd: 8 }
  }
} as const)

/** A column of a {@link FoldingTable}. */
interface Column {
  readonly name: string
  readonly align?: 'right'
  /** Whether its values say what they are: a folded row shows no label for them. */
  readonly isPlain?: boolean
  /** Whether what names the rows is a number: a folded row is called `Line 2`. */
  readonly isNumber?: boolean
  /** Whether it stands at the end of the folded row: buttons. */
  readonly isEnd?: boolean
}

const ColumnsContext = createContext<readonly Column[]>([])

interface FoldingTableProps {
  /** The name of the table. */
  readonly name: string
  /** The first one names the rows. */
  readonly columns: readonly Column[]
  readonly size?: 'small' | 'medium'
  /** Below which width of its place the rows fold, in pixels. Default: where a few short columns have no room. */
  readonly foldsBelow?: number
  /** Each a {@link FoldingRow}. */
  readonly children: ReactNode
}

/** A table with a name, whose rows fold where it is narrow. */
export function FoldingTable (
  { name, columns, size = 'small', foldsBelow: width = 520, children }: FoldingTableProps
) {
  return (
    <ColumnsContext.Provider value={columns}>
      <Box sx={foldsBelow(width)}>
        <Table size={size} aria-label={name}>
          <TableHead>
            <TableRow>
              {columns.map(({ name, align }) => (
                <TableCell key={name} role='columnheader' scope='col' align={align ?? 'left'}>{name}</TableCell>
              ))}
            </TableRow>
          </TableHead>
          <TableBody>{children}</TableBody>
        </Table>
      </Box>
    </ColumnsContext.Provider>
  )
}

/** A row of a {@link FoldingTable}: what stands in each of its columns. */
export function FoldingRow ({ children: [name, ...facts] }: { readonly children: readonly ReactNode[] }) {
  const [first, ...columns] = useContext(ColumnsContext)
  return (
    <TableRow hover>
      <TableCell
        component='th'
        scope='row'
        role='rowheader'
        data-label={first?.isNumber === true ? first.name : undefined}
      >
        {name}
      </TableCell>
      {columns.map(({ name, align, isPlain = false, isEnd = false }, index) => (
        <TableCell
          key={name}
          role='cell'
          align={align ?? 'left'}
          data-label={isPlain || isEnd ? undefined : name}
          data-end={isEnd || undefined}
        >
          {facts[index]}
        </TableCell>
      ))}
    </TableRow>
  )
}
