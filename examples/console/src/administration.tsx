import KeyIcon from '@mui/icons-material/KeyOutlined'
import AuditIcon from '@mui/icons-material/History'
import AccountsIcon from '@mui/icons-material/AccountBalanceWalletOutlined'
import HomeIcon from '@mui/icons-material/HomeOutlined'
import UnlinkedIcon from '@mui/icons-material/PersonSearchOutlined'
import PeopleIcon from '@mui/icons-material/PeopleOutlined'
import ShopsIcon from '@mui/icons-material/StorefrontOutlined'
import { CustomRoutes, Resource } from 'react-admin'
import { Route } from 'react-router-dom'
import { later } from './layout/later.tsx'
import { Entry, MenuSection } from './layout/menu-section.tsx'
import { texts } from './texts.ts'
import { Workspace } from './workspace.tsx'

const Home = later(async () => (await import('./home/admin-home.tsx')).AdminHome)
const ShopList = later(async () => (await import('./people/shops.tsx')).ShopList)
const ShopCreate = later(async () => (await import('./people/shops.tsx')).ShopCreate)
const ShopEdit = later(async () => (await import('./people/shops.tsx')).ShopEdit)
const UserList = later(async () => (await import('./people/users.tsx')).UserList)
const RunsPage = later(async () => (await import('./reconcile/runs-page.tsx')).RunsPage)
const RunPage = later(async () => (await import('./reconcile/run-page.tsx')).RunPage)
const UnlinkedPage = later(async () => (await import('./reconcile/unlinked-page.tsx')).UnlinkedPage)
const AppsPage = later(async () => (await import('./people/apps-page.tsx')).AppsPage)
const UserAppsPage = later(async () => (await import('./people/apps-page.tsx')).UserAppsPage)
const PayKeysPage = later(async () => (await import('./people/pay-keys-page.tsx')).PayKeysPage)
const AuditPage = later(async () => (await import('./reconcile/audit-page.tsx')).AuditPage)

/** What only admins see: all shops, all people, and the accounts at the payment provider. */
export default function Administration () {
  return (
    <Workspace path='/admin' root='' home={Home} menu={AdminMenu}>
      <Resource name='shops' list={ShopList} create={ShopCreate} edit={ShopEdit} recordRepresentation='name' />
      <Resource name='admin/users' list={UserList} recordRepresentation='name' />
      <CustomRoutes>
        <Route path='/apps' element={<AppsPage />} />
        <Route path='/admin/users/:id/apps' element={<UserAppsPage />} />
        <Route path='/reconciliation' element={<RunsPage />} />
        <Route path='/unlinked-customers' element={<UnlinkedPage />} />
        <Route path='/audit' element={<AuditPage />} />
        <Route path='/pay-keys' element={<PayKeysPage />} />
        <Route path='/reconciliation/:id' element={<RunPage />} />
      </CustomRoutes>
    </Workspace>
  )
}

function AdminMenu () {
  return (
    <>
      <MenuSection>
        <Entry to='' text={texts.menu.home} icon={<HomeIcon />} />
      </MenuSection>
      <MenuSection title={texts.menu.reconciliation}>
        <Entry to='reconciliation' text={texts.menu.runs} icon={<AccountsIcon />} />
        <Entry to='unlinked-customers' text={texts.menu.unlinked} icon={<UnlinkedIcon />} />
        <Entry to='audit' text={texts.menu.audit} icon={<AuditIcon />} />
        <Entry to='pay-keys' text={texts.menu.payKeys} icon={<KeyIcon />} />
      </MenuSection>
      <MenuSection title={texts.menu.all}>
        <Entry to='shops' text={texts.menu.shops} icon={<ShopsIcon />} />
        <Entry to='admin/users' text={texts.menu.people} icon={<PeopleIcon />} />
      </MenuSection>
    </>
  )
}
