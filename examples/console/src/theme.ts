import { defaultDarkTheme, defaultLightTheme, type RaThemeOptions } from 'react-admin'
import { EDGE } from './layout/edge.ts'
import { texts } from './texts.ts'
import { translation } from './translation.ts'

const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", sans-serif'

function labelOf (ownerState: object): object {
  const { 'aria-label': label } = ownerState as { 'aria-label'?: string }
  return label === undefined ? {} : { 'aria-label': label }
}

type Components = NonNullable<RaThemeOptions['components']>

/** The components that say something by themselves, in the language of the page. */
function spoken (components: Components = {}): Components {
  const known = components as Readonly<Record<string, { readonly defaultProps?: object } | undefined>>
  return Object.fromEntries(
    Object.entries(translation?.components ?? {}).map(([name, { defaultProps }]) => [name, {
      ...known[name],
      defaultProps: { ...known[name]?.defaultProps, ...defaultProps }
    }])
  )
}

/** What both themes share. Fonts come from the system: the console loads nothing from elsewhere. */
function themed (
  base: RaThemeOptions,
  { line, page, paper, primary, bar }: {
    readonly line: string,
    readonly page: string,
    readonly paper: string,
    readonly primary: string,
    readonly bar: string
  }
): RaThemeOptions {
  const isDark = base.palette?.mode === 'dark'
  return {
    ...base,
    palette: {
      mode: isDark ? 'dark' : 'light',
      primary: { main: primary },
      secondary: { main: primary },
      background: { default: page, paper },
      divider: line,
      ...isDark
        ? {
          error: { main: '#ff8a80' },
          warning: { main: '#ffb74d' },
          success: { main: '#7bd88f' },
          info: { main: '#7fb4ff' }
        }
        : {
          error: { main: '#b3261e' },
          warning: { main: '#8f5600' },
          success: { main: '#1d6b3a' },
          info: { main: '#1f5fa8' },
          text: { primary: '#1a1d29', secondary: '#555b6e' }
        }
    },
    typography: {
      fontFamily: FONT,
      fontSize: 14,
      h1: { fontSize: '1.5rem', fontWeight: 650, letterSpacing: '-0.01em' },
      h2: { fontSize: '1.1rem', fontWeight: 650 },
      h3: { fontSize: '.95rem', fontWeight: 650 },
      button: { textTransform: 'none', fontWeight: 600 }
    },
    shape: { borderRadius: 8 },
    // Wide enough for the longest entry of the menu.
    sidebar: { width: 280, closedWidth: 55 },
    // Whoever asks the system for less motion gets no transitions.
    motion: { reducedMotion: 'system' },
    components: {
      ...base.components,
      ...spoken(base.components),
      // A name within a sentence keeps its direction to itself, also one with characters that turn what follows.
      // Bars lie over the edges of the page, and would hide what gets the focus there (WCAG 2.4.11).
      MuiCssBaseline: {
        styleOverrides: {
          html: { scrollPaddingTop: '5rem', scrollPaddingBottom: '5rem' },
          'a, b, code, del, label, span, strong, time': { unicodeBidi: 'isolate' }
        }
      },
      // react-admin writes white on the colour of the page.
      RaSkipNavigationButton: {
        styleOverrides: {
          root: {
            '&, &:hover, &:focus': {
              backgroundColor: primary,
              color: isDark ? '#000' : '#fff',
              opacity: 1,
              transition: 'none'
            }
          }
        }
      },
      // What can be done with the selected rows is at the lower edge of the screen, where it covers no search. Only its
      // height is nothing while no row is selected: it would still be reached by Tab.
      RaDataTable: { styleOverrides: { root: { display: 'flex', flexDirection: 'column' } } },
      RaBulkActionsToolbar: {
        styleOverrides: {
          root: {
            order: 1,
            position: 'sticky',
            bottom: EDGE,
            zIndex: 3,
            '& .RaBulkActionsToolbar-toolbar': {
              position: 'static',
              transform: 'none',
              height: 'auto',
              flexWrap: 'wrap',
              borderRadius: 0
            },
            '& .RaBulkActionsToolbar-collapsed': { height: 0, visibility: 'hidden' }
          }
        }
      },
      // A wide table scrolls in its place, and does not widen the form.
      RaEdit: { styleOverrides: { root: { '& .RaEdit-card': { minWidth: 0 } } } },
      // The menu has no frame on a tablet either.
      RaSidebar: { styleOverrides: { root: { '& .MuiPaper-root': { border: 0 } } } },
      MuiPaper: {
        defaultProps: { elevation: 0 },
        styleOverrides: {
          root: { backgroundImage: 'none' },
          elevation0: { border: `1px solid ${line}` },
          elevation1: { boxShadow: 'none', border: `1px solid ${line}` }
        }
      },
      MuiAppBar: {
        defaultProps: { color: 'transparent', elevation: 0 },
        styleOverrides: {
          root: { backgroundColor: bar, border: 0, borderBottom: `1px solid ${line}`, borderRadius: 0 }
        }
      },
      MuiButton: { defaultProps: { disableElevation: true } },
      // A table that is laid out otherwise stays one: see layout/fold.tsx.
      MuiTable: { defaultProps: { role: 'table' } },
      MuiTableHead: { defaultProps: { role: 'rowgroup' } },
      MuiTableBody: { defaultProps: { role: 'rowgroup' } },
      MuiTableRow: { defaultProps: { role: 'row' } },
      // A long name breaks, so that it leaves room for the other columns, but not after each letter.
      MuiTableCell: {
        styleOverrides: {
          root: {
            borderColor: line,
            '& > a, & > bdi': { display: 'inline-block', minWidth: '9em', overflowWrap: 'anywhere' }
          },
          head: { fontWeight: 600 }
        }
      },
      MuiTextField: { defaultProps: { variant: 'outlined', size: 'small', margin: 'dense', fullWidth: true } },
      MuiFormControl: { defaultProps: { variant: 'outlined', size: 'small', margin: 'dense', fullWidth: true } },
      // A placeholder that is longer than its field ends before the icon.
      MuiInputBase: { styleOverrides: { input: { textOverflow: 'ellipsis' } } },
      MuiChip: { styleOverrides: { root: { fontWeight: 550 } } },
      // Labels belong to the checkbox itself, not to the element around it.
      MuiCheckbox: { defaultProps: { slotProps: { input: labelOf, root: () => ({ 'aria-label': undefined }) } } },
      MuiCircularProgress: { defaultProps: { 'aria-label': texts.layout.loading } },
      MuiTooltip: { defaultProps: { arrow: true } },
      RaToolbar: { styleOverrides: { root: { backgroundColor: 'transparent', borderTop: `1px solid ${line}` } } },
      MuiLink: { defaultProps: { underline: 'hover' } }
    }
  }
}

export const lightTheme = themed(defaultLightTheme, {
  line: '#e1e4ee',
  page: '#f6f7fb',
  paper: '#ffffff',
  primary: '#3150c9',
  bar: '#ffffff'
})
export const darkTheme = themed(defaultDarkTheme, {
  line: '#2c3347',
  page: '#10131c',
  paper: '#181d2a',
  primary: '#9fb2ff',
  bar: '#141824'
})
