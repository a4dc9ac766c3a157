import { JsonRpcCode } from '@mcp-host/mcp'

/** A longer message of an app is refused, in characters of its JSON. */
const MAX_MESSAGE_LENGTH = 1024 * 1024

const STYLE =
  'html,body,iframe{display:block;width:100%;height:100%;margin:0;border:0}body{overflow:hidden}'

/**
 * Passes messages between the page of the host and the app, which is in a frame of its own. The page gets the messages of
 * the app as text, so that it measures them before it reads them.
 */
const SCRIPT = `
'use strict'
const RESERVED = 'ui/notifications/sandbox-'
let app
const textOf = (message) => {
  try {
    return JSON.stringify(message)
  } catch {
    // Not JSON, so not for the host.
    return undefined
  }
}
const toPage = (message) => parent.postMessage(JSON.stringify(message), location.origin)
const toApp = (message) => app?.contentWindow?.postMessage(message, '*')
const show = ({ html }) => {
  app?.remove()
  app = document.createElement('iframe')
  app.setAttribute('sandbox', 'allow-scripts allow-forms')
  app.title = document.title
  app.srcdoc = html
  document.body.append(app)
}
const fromApp = (message) => {
  if (typeof message !== 'object' || message === null) return
  if (String(message.method).startsWith(RESERVED)) return
  const text = textOf(message)
  if (text === undefined) return
  if (text.length <= ${MAX_MESSAGE_LENGTH}) parent.postMessage(text, location.origin)
  else if (message.id !== undefined) {
    const error = { code: ${JsonRpcCode.invalidRequest}, message: 'the message is longer than ${MAX_MESSAGE_LENGTH} characters' }
    toApp({ jsonrpc: '2.0', id: message.id, error })
  }
}
addEventListener('message', ({ source, origin, data }) => {
  if (source === parent && origin === location.origin) {
    if (data.method === RESERVED + 'resource-ready') show(data.params)
    else if (data.jsonrpc === '2.0') toApp(data)
  } else if (source !== null && source === app?.contentWindow) fromApp(data)
})
toPage({ jsonrpc: '2.0', method: RESERVED + 'proxy-ready', params: {} })
`

/** The page between the web UI and an MCP app. It contains nothing of the host or of its user. */
export const SANDBOX_PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="color-scheme" content="light dark">
<title>App of an MCP server</title>
<style>${STYLE}</style>
</head>
<body>
<script>${SCRIPT}</script>
</body>
</html>
`
