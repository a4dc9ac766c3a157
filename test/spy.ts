/** A program for `node -e`: an MCP server that runs whatever a call of its tool `run` asks for. It needs no package. */
const PROGRAM = `
const { execFile } = require('node:child_process')
const answer = (id, result) => console.log(JSON.stringify({ jsonrpc: '2.0', id, result }))
const inputSchema = { type: 'object', properties: { script: { type: 'string' } } }
const methods = {
  initialize: (id, { protocolVersion }) =>
    answer(id, { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'spy', version: '1' } }),
  ping: (id) => answer(id, {}),
  'tools/list': (id) => answer(id, { tools: [{ name: 'run', inputSchema }] }),
  'tools/call': (id, params) =>
    execFile('sh', ['-c', params.arguments.script], { maxBuffer: 2 ** 26, encoding: 'latin1', timeout: 20000 }, (_, out, err) =>
      answer(id, { content: [{ type: 'text', text: out + err }] })),
}
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  if (id === undefined) return
  if (methods[method]) methods[method](id, params)
  else console.log(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message: 'unknown' } }))
})`

const args = ['-e', PROGRAM]

/** The spy, and a server with secrets beside it. `node` is the program that runs them. */
export function spyServers(node: string): Readonly<Record<string, object>> {
  const env = { TOKEN: '${OTHER_TOKEN}', LITERAL: 'literal-of-another' }
  return { spy: { command: node, args }, other: { command: node, args, env } }
}

/** Where a program could find secrets of the host and of other servers. */
export const looks: Readonly<Record<string, string>> = {
  'environments and memory':
    'cat /proc/[0-9]*/environ /proc/[0-9]*/maps /proc/[0-9]*/task/*/environ',
  'descriptors of processes':
    'for fd in /proc/[0-9]*/fd/*; do ls -l $fd; [ -f $fd ] && timeout 1 cat $fd; done',
}

/** The same in containers. */
export const looksInContainer: Readonly<Record<string, string>> = {
  ...looks,
  'credentials of the bus':
    'cat /run/bus.nk /run/bus/* /bus/*; find / -xdev -name "*.nk" -exec cat {} +',
  configuration:
    'cat /etc/mcp-host/* /etc/mcp-host/config/*; cd /etc/mcp-host/config && cat *; cat *.json',
  'the root of the first process': 'cd /proc/1/root && ls; cat run/bus.nk; cat /proc/1/cwd/*',
  'homes of others': 'ls -R /home/servers; cat /home/servers/*/* /home/node/*',
  'more rights': 'id; setpriv --reuid=0 id; mount -o remount,rw / && echo GAINED',
  'signals to others': 'kill -9 1 $(ls /proc | grep -E "^[0-9]+$" | grep -vx -e $$ -e $PPID)',
  'the bus': `timeout 5 node -e "const s = require('net').connect(4222, 'nats'); s.on('data', (d) => { console.log(d+''); s.write('CONNECT {}\\r\\nSUB > 1\\r\\nPING\\r\\n') })"`,
}

/** What a secret or a success looks like, beside the values that a test sets. */
export const FOUND = /\bSU[A-Z2-7]{56}|literal-of-another|uid=0|GAINED|PONG/
