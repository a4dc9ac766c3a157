import { createHash } from 'node:crypto'
import type { CatalogView } from '@mcp-host/bus'
import type { CatalogEntry, ServerView } from '@mcp-host/contracts'
import { NOBODY, viewServers } from '@mcp-host/contracts'
import type { FastifyInstance } from 'fastify'
import { FRONT_PAGE_STYLE } from './front-page-style.ts'
import type { WebUi } from './web-ui.ts'

export const FRONT_PAGE = `mcp-host gateway

GET    /ws                                 chat over WebSocket

POST   /mcp                                all MCP servers as one, by Streamable HTTP
POST   /mcp/servers/:server                one of them, under its own names
POST   /mcp/bundles/:bundle                some of it, as bundles.json has it
GET    /mcp/ws                             the same over WebSocket, and below each of these

GET    /capabilities                       what the MCP servers offer
POST   /mcp/tools/list                     their tools, as plain JSON; so are all that follow
POST   /mcp/tools/call                     call one
POST   /mcp/resources/list                 what can be read
POST   /mcp/resources/templates/list       patterns of what can be read
POST   /mcp/resources/read                 read it
POST   /mcp/prompts/list                   their prompts
POST   /mcp/prompts/get                    get one

POST   /api/chat/session                   begin a session
GET    /api/chat/sessions                  list them
GET    /api/chat/session/:id               what is known of one
PATCH  /api/chat/session/:id               give it a title or a model
DELETE /api/chat/session/:id               erase it
GET    /api/chat/session/:id/connections   the sockets that are open on it
GET    /api/chat/session/:id/messages      messages of a session
POST   /api/chat/session/:id/message       say something, get the answer as a stream of events
POST   /api/chat/session/:id/file          store a file that is to come with a message
GET    /api/chat/session/:id/file/:key     get it
POST   /api/chat/session/:id/regenerate    get another answer
GET    /api/chat/session/:id/events        follow it, a stream of events
GET    /api/chat/models                    who may answer
POST   /api/chat/session/:id/abort         end the turn that runs
POST   /api/chat/session/:id/abort-call    stop one tool call; the turn goes on
POST   /api/chat/session/:id/answer        answer a question
POST   /api/chat/session/:id/shares        get a link by which anybody reads it
GET    /api/chat/session/:id/shares        its links
DELETE /api/chat/session/:id/shares/:share revoke one
GET    /api/shared/:token                  what a link shares; without a credential, as are the next four
GET    /api/shared/:token/messages         what was said
GET    /api/shared/:token/file/:key        a file of it
GET    /api/shared/:token/events           follow it
POST   /api/tickets                        a ticket for one socket, for browsers
GET    /api/me                             whose credential it is
GET    /api/connections                    MCP servers at which you can log in, with your logins
GET    /api/connections/:server/authorization  how a program gets tokens for one
PUT    /api/connections/:server/:label     log in there by tokens of yours
PATCH  /api/connections/:server/:label     rename one, or make it the default one
DELETE /api/connections/:server/:label     end one of your logins
GET    /api/keys                           the API keys; for admins, as are the next four
POST   /api/keys                           create one
DELETE /api/keys/:id                       revoke it
GET    /api/changed-tools                  tools whose definition has changed
POST   /api/changed-tools/accept           use one as it is now
POST   /api/servers/:server/restart        restart an MCP server; for admins, as are the next seven
GET    /api/servers/:server/output         the last lines of its stderr
GET    /api/servers/:server/users          who is logged in there
DELETE /api/servers/:server/users/:principal/:label   end a login there
POST   /api/servers/reload                 read mcp.json again
GET    /api/file-faults                    faults of changed settings
POST   /api/policy/explain                 how the policy decides about a call, and why
GET    /api/limits                         the limits for clients, and what is used
GET    /api/maintenance                    whether maintenance is announced
POST   /api/maintenance                    announce it: new messages are refused
DELETE /api/maintenance                    take it back
GET    /api/audit                          the audit log; for users their own entries
GET    /api/audit/verification             whether its entries are whole; for auditors and admins
GET    /api/approvals                      tool calls that wait for your decision
GET    /api/approvals/:id                  one of them
POST   /api/approvals/:id                  allow or refuse it
GET    /api/accounts                       the accounts; for admins, as are the next three
POST   /api/accounts                       create one, get a link for its owner
PATCH  /api/accounts/:name                 change its roles, disable it, log it out
POST   /api/accounts/:name/invitation      get another link
DELETE /api/accounts/:name/invitation      end its link

GET    /app-sandbox                        the frame in which the web UI shows apps of MCP servers

GET    /openapi.json                       all of these in detail

GET    /health                             the process, the MCP servers and the model
GET    /ready                              whether it can work
GET    /users/jwks                         public keys of its assertions about users (JWKS)
GET    /metrics                            Prometheus
`

const styleHash = createHash('sha256').update(FRONT_PAGE_STYLE).digest('base64')

const HEADERS = {
  'content-security-policy': `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
}

/**
 * The page at `/`: for browsers the web UI, or without one what runs and what to try; for everything else the list of
 * routes as text.
 */
export function addFrontPage(app: FastifyInstance, { entries }: CatalogView, ui?: WebUi): void {
  app.get('/', async (request, reply) => {
    reply.header('vary', [reply.getHeader('vary') ?? [], 'Accept'].flat().join(', '))
    if (request.headers.accept?.includes('text/html') !== true) {
      return reply.type('text/plain').send(FRONT_PAGE)
    }
    if (await ui?.isThere()) return ui?.send(reply)
    const url = `${request.protocol}://${request.host}`
    reply.headers(HEADERS).type('text/html; charset=utf-8')
    // Without a credential, where one is needed, the page names no server.
    const known = request.principal === NOBODY ? undefined : Array.from(entries.values())
    return reply.send(frontPageHtml(known, url))
  })
}

/** `url`: of this gateway. */
function frontPageHtml(entries: readonly CatalogEntry[] | undefined, url: string): string {
  const state = entries === undefined ? '<p>Log in to see its state.</p>' : stateHtml(entries)
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>mcp-host</title>
<style>${FRONT_PAGE_STYLE}</style>
</head>
<body>
<main>
<h1><span class="dial"></span>mcp-host</h1>
<p>This host is running. Reload the page to see its state again.</p>
${state}
<h2>Try it</h2>
<p>Chat in a terminal, in the folder of mcp-host:</p>
<pre>npm run chat</pre>
<p>List the tools over HTTP:</p>
<pre>curl ${escapeHtml(url)}/mcp/tools/list -H 'content-type: application/json' -d '{}'</pre>
<p>Use all tools from another MCP client, by Streamable HTTP: <code>${escapeHtml(`${url}/mcp`)}</code></p>
<p>Look at <a href="/health">/health</a>, <a href="/capabilities">/capabilities</a>, <a href="/api/chat/models">the models</a>,
<a href="/openapi.json">/openapi.json</a> and <a href="/metrics">/metrics</a>. All routes:</p>
<pre class="routes" tabindex="0">${escapeHtml(FRONT_PAGE)}</pre>
</main>
</body>
</html>
`
}

function stateHtml(entries: readonly CatalogEntry[]): string {
  const model = entries.find((entry) => entry.kind === 'model')
  const answering =
    model === undefined ? 'No model is ready yet.' : `${model.model} (${model.provider})`
  const rows = viewServers(entries).map(serverRow).join('')
  const servers =
    rows === '' ? '<p>No MCP server is known yet.</p>' : `<table>${HEAD}${rows}</table>`
  return `<h2>Model</h2>
<p>${escapeHtml(answering)}</p>
<p>${escapeHtml(model?.notice ?? '')}</p>
<h2>MCP servers</h2>
${servers}`
}

const HEAD = '<tr><th>Name</th><th>State</th><th>Tools</th><td></td></tr>'

function serverRow({ server, state, error, entry, tools }: ServerView): string {
  const why = [error ?? '', ...(entry.output ?? [])].join('\n').trim()
  const cells = [server, entry.phase ?? state, String(tools.length)].map(escapeHtml)
  const failed = state === 'unavailable' ? ' class="failed"' : ''
  return `<tr${failed}>${cells.map((cell) => `<td>${cell}</td>`).join('')}<td><pre>${escapeHtml(why)}</pre></td></tr>`
}

/** Names and errors are texts of others. */
function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}
