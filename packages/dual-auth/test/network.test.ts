import t from 'tap'
import { networkFromAddress } from '../src/keys/network.ts'

t.test('a network is the first 24 bits of an IPv4 address and 48 of an IPv6 address, in one spelling', (t) => {
  for (
    const [network, addresses] of Object.entries({
      '203.0.113.0/24': [
        '203.0.113.7',
        '203.0.113.255',
        '203.0.113.7:4711',
        '::ffff:203.0.113.7',
        '::FFFF:203.0.113.7'
      ],
      '0.0.0.0/24': ['0.0.0.0'],
      '2001:db8:7::/48': ['2001:db8:7:8:9:a:b:c', '2001:0DB8:0007:ffff::1', '[2001:db8:7::1]:4711', '[2001:db8:7::1]'],
      '2001:db8::/48': ['2001:db8::7:8', '2001:db8::'],
      '2001:0:7::/48': ['2001::7:8:9:a:b:c'],
      'fe80::/48': ['fe80::1%eth0'],
      '::/48': ['::1', '::'],
      '64:ff9b::/48': ['64:ff9b::203.0.113.7'],
      '1:2:3::/48': ['1:2:3:4:5:6:203.0.113.7'],
      '0:0:2::/48': ['::2:3:4:5:203.0.113.7']
    })
  ) for (const address of addresses) t.equal(networkFromAddress(address), network, address)
  t.end()
})

t.test('what is no address has no network', (t) => {
  for (
    const address of [
      undefined,
      '',
      'unknown',
      '203.0.113',
      '203.0.113.256',
      '203.0.113.7.1',
      '2001:db8',
      '2001:db8:::1',
      '[203.0.113.7',
      '%',
      ':',
      'x'.repeat(100_000),
      '1.'.repeat(50_000)
    ]
  ) {
    t.equal(networkFromAddress(address), null, String(address).slice(0, 40))
  }
  t.end()
})
