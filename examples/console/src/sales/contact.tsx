import { Link } from '@mui/material'
import { mailtoOf, telOf } from './account.ts'

/** An e-mail address that can be written to. In a row that can be clicked, the click is the link's. */
export function EmailLink ({ email }: { readonly email: string }) {
  return <ContactLink text={email} href={mailtoOf(email)} />
}

/** A telephone number that can be called. */
export function PhoneLink ({ phone }: { readonly phone: string }) {
  return <ContactLink text={phone} href={telOf(phone)} />
}

function ContactLink ({ text, href }: { readonly text: string, readonly href: string | undefined }) {
  return href === undefined ? text : <Link href={href} onClick={(event) => event.stopPropagation()}>{text}</Link>
}
