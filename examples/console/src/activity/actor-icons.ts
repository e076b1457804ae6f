import AgentIcon from '@mui/icons-material/SmartToyOutlined'
import MachineIcon from '@mui/icons-material/DnsOutlined'
import PersonIcon from '@mui/icons-material/PersonOutlined'

/** By the kind of actor; all others are machines. */
export const ACTOR_ICONS: Readonly<Record<string, typeof AgentIcon>> = { 'api-key': AgentIcon, user: PersonIcon }
export { MachineIcon }
