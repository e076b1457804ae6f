import AdministrationIcon from '@mui/icons-material/AdminPanelSettingsOutlined'
import OpenIcon from '@mui/icons-material/UnfoldMore'
import ShopIcon from '@mui/icons-material/StorefrontOutlined'
import {
  Box,
  Button,
  Divider,
  ListItemIcon,
  ListItemText,
  Menu,
  MenuItem,
  OutlinedInput,
  Typography
} from '@mui/material'
import { useContext, useState } from 'react'
import { useNavigate } from 'react-router-dom'
import { texts } from '../texts.ts'
import { type Shop, ShopContext, useViewer } from '../viewer.tsx'

/** From how many shops on they can be searched. */
const MANY = 8

/** Names the shop that is open, and leads to the others. */
export function WorkspaceSwitch () {
  const shop = useContext(ShopContext)
  const { isAdmin, shops } = useViewer()
  const navigate = useNavigate()
  const [anchor, setAnchor] = useState<HTMLElement | null>(null)
  const [typed, setTyped] = useState('')
  const name = shop?.name ?? texts.layout.administration

  const go = (path: string) => {
    setAnchor(null)
    setTyped('')
    navigate(path)
  }
  const isFound = ({ name, slug }: Shop) => `${name} ${slug}`.toLowerCase().includes(typed.toLowerCase())
  const Icon = shop === undefined ? AdministrationIcon : ShopIcon
  if (!isAdmin && shops.length < 2) {
    return (
      <Typography
        variant='body2'
        component='div'
        sx={{ display: 'flex', gap: 1, alignItems: 'center', fontWeight: 650, minWidth: 0 }}
      >
        <ShopIcon fontSize='small' />
        <OneLine>{name}</OneLine>
      </Typography>
    )
  }
  return (
    <>
      <Button
        color='inherit'
        startIcon={<Icon />}
        endIcon={<OpenIcon />}
        aria-haspopup='menu'
        aria-expanded={anchor !== null}
        onClick={({ currentTarget }) => setAnchor(currentTarget)}
        sx={{ fontWeight: 650, minWidth: 0, '& .MuiButton-endIcon': { opacity: 0.6 } }}
        title={texts.layout.shops}
      >
        <OneLine>{name}</OneLine>
      </Button>
      <Menu
        anchorEl={anchor}
        open={anchor !== null}
        onClose={() => setAnchor(null)}
        slotProps={{ paper: { sx: { minWidth: 260, maxHeight: 480 } } }}
      >
        {isAdmin && [
          <MenuItem key='admin' selected={shop === undefined} onClick={() => go('/admin')}>
            <ListItemIcon>
              <AdministrationIcon fontSize='small' />
            </ListItemIcon>
            <ListItemText>{texts.layout.administration}</ListItemText>
          </MenuItem>,
          <Divider key='line' />
        ]}
        {shops.length > MANY && (
          <MenuItem
            disableRipple
            onKeyDown={(event) => event.stopPropagation()}
            sx={{ '&:hover': { bgcolor: 'transparent' } }}
          >
            <OutlinedInput
              size='small'
              fullWidth
              autoFocus
              value={typed}
              onChange={({ target }) => setTyped(target.value)}
              placeholder={texts.layout.findShop}
              inputProps={{ 'aria-label': texts.layout.findShop }}
            />
          </MenuItem>
        )}
        {shops.filter(isFound).map((other) => (
          <MenuItem
            key={other.id}
            selected={other.id === shop?.id}
            onClick={() => go(`/shops/${other.slug}`)}
          >
            <ListItemIcon>
              <ShopIcon fontSize='small' />
            </ListItemIcon>
            <ListItemText
              primary={other.name}
              secondary={other.status === 'archived' ? texts.layout.archived : undefined}
            />
          </MenuItem>
        ))}
      </Menu>
    </>
  )
}

/** The bar keeps its height on a phone: it lies over the page. */
function OneLine ({ children }: { readonly children: string }) {
  return (
    <Box component='span' title={children} sx={{ overflow: 'hidden', textOverflow: 'ellipsis', whiteSpace: 'nowrap' }}>
      {children}
    </Box>
  )
}
