import AccountsIcon from '@mui/icons-material/PeopleOutlined'
import ActivityIcon from '@mui/icons-material/History'
import AttributesIcon from '@mui/icons-material/TuneOutlined'
import CategoriesIcon from '@mui/icons-material/AccountTreeOutlined'
import HomeIcon from '@mui/icons-material/HomeOutlined'
import ImportsIcon from '@mui/icons-material/UploadFileOutlined'
import KeysIcon from '@mui/icons-material/VpnKeyOutlined'
import MembersIcon from '@mui/icons-material/GroupsOutlined'
import OrdersIcon from '@mui/icons-material/ReceiptLongOutlined'
import ProductsIcon from '@mui/icons-material/Inventory2Outlined'
import SettingsIcon from '@mui/icons-material/SettingsOutlined'
import TagsIcon from '@mui/icons-material/LocalOfferOutlined'
import { CustomRoutes, Resource } from 'react-admin'
import { Route } from 'react-router-dom'
import { Entry, MenuSection } from './layout/menu-section.tsx'
import { later } from './layout/later.tsx'
import { texts } from './texts.ts'
import { useShop } from './viewer.tsx'
import { Workspace } from './workspace.tsx'

const Home = later(async () => (await import('./home/shop-home.tsx')).ShopHome)
const ProductList = later(async () => (await import('./catalog/product-list.tsx')).ProductList)
const ProductCreate = later(async () => (await import('./catalog/product-form.tsx')).ProductCreate)
const ProductEdit = later(async () => (await import('./catalog/product-form.tsx')).ProductEdit)
const CategoriesPage = later(async () => (await import('./catalog/categories-page.tsx')).CategoriesPage)
const ImportPage = later(async () => (await import('./catalog/import-page.tsx')).ImportPage)
const ImportsPage = later(async () => (await import('./catalog/imports-page.tsx')).ImportsPage)
const TagList = later(async () => (await import('./catalog/tags.tsx')).TagList)
const TagCreate = later(async () => (await import('./catalog/tags.tsx')).TagCreate)
const TagEdit = later(async () => (await import('./catalog/tags.tsx')).TagEdit)
const AttributeList = later(async () => (await import('./catalog/attributes.tsx')).AttributeList)
const AttributeCreate = later(async () => (await import('./catalog/attributes.tsx')).AttributeCreate)
const AttributeEdit = later(async () => (await import('./catalog/attributes.tsx')).AttributeEdit)
const KeyList = later(async () => (await import('./agents/key-list.tsx')).KeyList)
const KeyPage = later(async () => (await import('./agents/key-page.tsx')).KeyPage)
const ActivityPage = later(async () => (await import('./activity/activity-page.tsx')).ActivityPage)
const OrderList = later(async () => (await import('./sales/orders.tsx')).OrderList)
const OrderShow = later(async () => (await import('./sales/orders.tsx')).OrderShow)
const AccountList = later(async () => (await import('./sales/accounts.tsx')).AccountList)
const AccountEdit = later(async () => (await import('./sales/accounts.tsx')).AccountEdit)
const AppsPage = later(async () => (await import('./people/apps-page.tsx')).AppsPage)
const MembersPage = later(async () => (await import('./people/members.tsx')).MembersPage)
const SettingsPage = later(async () => (await import('./people/settings-page.tsx')).SettingsPage)

/** One shop: what its members see and do. */
export default function ShopWorkspace () {
  const { id, slug } = useShop()
  return (
    <Workspace path={`/shops/${slug}`} root={`/shops/${id}`} home={Home} menu={ShopMenu}>
      <Resource
        name='products'
        list={ProductList}
        create={ProductCreate}
        edit={ProductEdit}
        recordRepresentation='name'
      />
      <Resource name='tags' list={TagList} create={TagCreate} edit={TagEdit} recordRepresentation='name' />
      <Resource
        name='attributes'
        list={AttributeList}
        create={AttributeCreate}
        edit={AttributeEdit}
        recordRepresentation='name'
      />
      <Resource name='prices' />
      <Resource name='api-keys' list={KeyList} />
      <Resource name='history' list={ActivityPage} />
      <Resource name='orders' list={OrderList} show={OrderShow} />
      <Resource name='accounts' list={AccountList} edit={AccountEdit} recordRepresentation='name' />
      <CustomRoutes>
        <Route path='/apps' element={<AppsPage />} />
        <Route path='/api-keys/:id' element={<KeyPage />} />
        <Route path='/categories' element={<CategoriesPage />} />
        <Route path='/imports' element={<ImportsPage />} />
        <Route path='/imports/:id' element={<ImportPage />} />
        <Route path='/members' element={<MembersPage />} />
        <Route path='/settings' element={<SettingsPage />} />
      </CustomRoutes>
    </Workspace>
  )
}

function ShopMenu () {
  return (
    <>
      <MenuSection>
        <Entry to='' text={texts.menu.home} icon={<HomeIcon />} />
      </MenuSection>
      <MenuSection title={texts.menu.catalog}>
        <Entry to='products' text={texts.menu.products} icon={<ProductsIcon />} />
        <Entry to='imports' text={texts.menu.imports} icon={<ImportsIcon />} />
        <Entry to='categories' text={texts.menu.categories} icon={<CategoriesIcon />} />
        <Entry to='tags' text={texts.menu.tags} icon={<TagsIcon />} />
        <Entry to='attributes' text={texts.menu.attributes} icon={<AttributesIcon />} />
      </MenuSection>
      <MenuSection title={texts.menu.agents}>
        <Entry to='api-keys' text={texts.menu.keys} icon={<KeysIcon />} />
        <Entry to='history' text={texts.menu.activity} icon={<ActivityIcon />} />
      </MenuSection>
      <MenuSection title={texts.menu.work}>
        <Entry to='orders' text={texts.menu.orders} icon={<OrdersIcon />} />
        <Entry to='accounts' text={texts.menu.accounts} icon={<AccountsIcon />} />
      </MenuSection>
      <MenuSection title={texts.menu.shop}>
        <Entry to='members' text={texts.menu.members} icon={<MembersIcon />} />
        <Entry to='settings' text={texts.menu.settings} icon={<SettingsIcon />} />
      </MenuSection>
    </>
  )
}
