import { TextInput } from 'react-admin'
import { RecordLink } from '../layout/record-link.tsx'
import { Col } from '../layout/record-table.tsx'
import { texts } from '../texts.ts'
import { agoText, timeText } from '../times.ts'
import { useShop } from '../viewer.tsx'
import { NamedRecordCreate, NamedRecordEdit, NamedRecordList } from './named-records.tsx'

/** The tags of the shop. */
export function TagList () {
  const shop = useShop()
  return (
    <NamedRecordList title={texts.menu.tags} words={texts.tags}>
      <Col source='name' isName>
        <RecordLink />
      </Col>
      <Col source='slug' />
      <Col
        source='updated_at'
        render={({ updated_at: at }) => <span title={timeText(at, shop)}>{agoText(at, shop)}</span>}
      />
    </NamedRecordList>
  )
}

export function TagCreate () {
  return (
    <NamedRecordCreate title={texts.tags.create}>
      <Fields />
    </NamedRecordCreate>
  )
}

export function TagEdit () {
  return (
    <NamedRecordEdit>
      <Fields />
    </NamedRecordEdit>
  )
}

function Fields () {
  return (
    <>
      <TextInput source='name' isRequired helperText={false} />
      <TextInput source='slug' helperText={texts.products.slugHelp} />
    </>
  )
}
