// Loaded into a server: leads the names of some hosts, and their port 443, to the lab. The server's own check of
// addresses stays, and lets loopback pass because the server is there, too.
import dns from 'node:dns'
import https from 'node:https'
import { syncBuiltinESMExports } from 'node:module'

const { port, hosts } = JSON.parse(process.env['LAB_INTERNET'] ?? '{}')
const { lookup } = dns
const { request } = https

dns.lookup = Object.assign(function (host, options, done) {
  return lookup(hosts.includes(host) ? '127.0.0.1' : host, options, done)
}, lookup)
https.request = function (url, options, done) {
  return request(url, url instanceof URL && hosts.includes(url.hostname) ? { ...options, port } : options, done)
}
syncBuiltinESMExports()
