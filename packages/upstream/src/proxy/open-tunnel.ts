import { request as requestPlain } from 'node:http'
import { request as requestSecure } from 'node:https'
import { isIP, type Socket } from 'node:net'

const TIMEOUT_MS = 10_000

class ProxyError extends Error {}

/**
 * Opens a connection to an address through a proxy, by `CONNECT`. Rejects with an error that names the proxy, without
 * its user and password.
 */
export function openTunnel(
  proxy: URL,
  { host, port }: { readonly host: string; readonly port: number | string },
): Promise<Socket> {
  const target = `${host.includes(':') ? `[${host}]` : host}:${port}`
  const address = proxy.hostname.replace(/^\[(.*)\]$/, '$1')
  const fail = (reason: string): ProxyError => new ProxyError(`the proxy ${proxy.host} ${reason}`)
  return new Promise((resolve, reject) => {
    const request = (proxy.protocol === 'https:' ? requestSecure : requestPlain)({
      host: address,
      port: proxy.port,
      servername: isIP(address) === 0 ? address : '',
      method: 'CONNECT',
      path: target,
      headers: { host: target, ...credential(proxy) },
      agent: false,
      timeout: TIMEOUT_MS,
    })
    request.on('timeout', () => request.destroy(fail(`did not answer in ${TIMEOUT_MS / 1000} s`)))
    request.on('connect', ({ statusCode = 0, statusMessage }, socket: Socket, head) => {
      socket.setTimeout(0)
      if (statusCode >= 200 && statusCode < 300) {
        if (head.length > 0) socket.unshift(head)
        resolve(socket)
        return
      }
      socket.destroy()
      reject(fail(`refused a connection to ${target}: ${statusCode} ${statusMessage}`))
    })
    request.on('response', ({ statusCode }) => {
      request.destroy(fail(`answered CONNECT like any other request, with ${statusCode}`))
    })
    request.on('error', (error) => {
      reject(error instanceof ProxyError ? error : fail(`cannot be reached: ${error.message}`))
    })
    request.end()
  })
}

function credential({ username, password }: URL): { 'proxy-authorization'?: string } {
  if (username === '') return {}
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return { 'proxy-authorization': `Basic ${Buffer.from(pair).toString('base64')}` }
}
