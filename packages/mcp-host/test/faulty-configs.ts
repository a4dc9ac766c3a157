/** A file of these lines. */
export const lines = (...text: string[]): string => text.join('\n')

/** A file with one server of these fields, in its second line. */
export const server = (fields: string): string =>
  lines('{ "servers": {', `  "web": { ${fields} }`, '} }')

const two = (first: string, second: string): string =>
  lines('{ "servers": {', `  "a": ${first},`, `  "b": ${second} } }`)
const dependent = (dependencies: string): string =>
  `{ "command": "x", "dependencies": ${dependencies} }`

/** Faulty files, and whether an editor with the JSON Schema sees it too. */
export const FILES: [name: string, text: string, isSeenInEditors: boolean, ...faults: string[]][] =
  [
    ['nothing at all', '', false, '1:1 : is not valid JSON: value expected'],
    ['no comma', '{ "servers": {}\n "x": 1 }', false, '2:2 : is not valid JSON: comma expected'],
    ['a list', '\n []', true, '2:2 : must be an object'],
    ['no servers', ' {}', true, '1:2 servers: is missing'],
    ['servers in a text', '{ "servers": "a" }', true, '1:14 servers: must be an object or a list'],
    [
      'Windows line ends',
      '{\r\n"servers":\r\n 1}',
      true,
      '3:2 servers: must be an object or a list',
    ],
    ['an unknown field', '{ "servers": {}, "x": [] }', true, '1:18 x: is not a known field'],
    [
      'a server twice in one object',
      lines('{ "servers": {', '  "a": { "command": "x" },', '  "a": { "command": "y" } } }'),
      false,
      '3:3 servers.a: is there twice',
    ],
    [
      'a server in both spellings',
      lines(
        '{ "servers": { "a": { "command": "x" } },',
        '"mcpServers": { "a": { "url": "ws://x" } } }',
      ),
      false,
      '2:17 mcpServers.a: is there twice, first as servers.a',
    ],
    [
      'a server twice in a list',
      lines(
        '{ "servers": [',
        '  { "id": "a", "command": "x" },',
        '  { "id": "a", "command": "x" } ] }',
      ),
      false,
      '3:11 servers[1].id: is there twice, first as servers[0]',
    ],
    [
      'a server without a name in a list',
      '{ "servers": [ { "command": "x" } ] }',
      true,
      '1:16 servers[0].id: is missing',
    ],
    [
      'a name that is a number in a list',
      '{ "servers": [ { "id": 7, "command": "x" } ] }',
      true,
      '1:24 servers[0].id: must be a string',
    ],
    [
      'a name from a variable',
      '{ "servers": [ { "id": "${TOKEN}", "command": "x" } ] }',
      false,
      '1:24 servers[0].id: is not a valid server name',
    ],
    ['a text in a list', '{ "servers": [ "a" ] }', true, '1:16 servers[0]: must be an object'],
    [
      'a text as a server',
      '{ "servers": { "a": "x" } }',
      true,
      '1:21 servers.a: must be an object',
    ],
    [
      'a dot in a name',
      '{ "servers": { "a.b": { "command": "x" } } }',
      true,
      '1:16 servers.a.b: is not a valid server name',
    ],
    [
      'an empty name',
      '{ "servers": { "": { "command": "x" } } }',
      true,
      '1:16 servers.: is not a valid server name',
    ],
    [
      'the name of what every object has',
      '{ "servers": { "__proto__": { "command": "x" } } }',
      false,
      '1:16 servers.__proto__: is not a valid server name',
    ],
    [
      'a reserved name',
      '{ "servers": { "files": { "command": "x" } } }',
      false,
      '1:16 servers.files: is a reserved server name',
    ],
    [
      'a dependency that is not there',
      two('{ "command": "x" }', dependent('["a", "c"]')),
      false,
      '3:48 servers.b.dependencies[1]: is not the name of a server',
    ],
    [
      'a dependency twice',
      two('{ "command": "x" }', dependent('["a", "a"]')),
      false,
      '3:48 servers.b.dependencies[1]: is there twice',
    ],
    [
      'a disabled dependency',
      two('{ "command": "x", "disabled": true }', dependent('["a"]')),
      false,
      '3:43 servers.b.dependencies[0]: is a disabled server',
    ],
    [
      'a dependency on itself',
      two('{ "command": "x" }', dependent('["b"]')),
      false,
      '3:43 servers.b.dependencies[0]: is the server itself',
    ],
    [
      'a cycle of two',
      two(dependent('["b"]'), dependent('["a"]')),
      false,
      '3:43 servers.b.dependencies[0]: closes the cycle a → b → a',
    ],
    [
      'a cycle of three that one more server waits for',
      lines(
        '{ "servers": {',
        `  "z": ${dependent('["a"]')},`,
        `  "a": ${dependent('["b"]')},`,
        `  "b": ${dependent('["c"]')},`,
        `  "c": ${dependent('["a"]')} } }`,
      ),
      false,
      '5:43 servers.c.dependencies[0]: closes the cycle a → b → c → a',
    ],
    [
      'two cycles through one server',
      lines(
        '{ "servers": {',
        `  "a": ${dependent('["b", "c"]')},`,
        `  "b": ${dependent('["a"]')},`,
        `  "c": ${dependent('["a"]')} } }`,
      ),
      false,
      '3:43 servers.b.dependencies[0]: closes the cycle a → b → a',
      '4:43 servers.c.dependencies[0]: closes the cycle a → c → a',
    ],
  ]

const C = '"command": "a"'
const U = '"url": "http://a"'
const NUL = 'must not contain a NUL character'
const TYPES = 'must be "stdio", "http", "sse" or "websocket"'
const REMOTE = 'is for servers of type "http", "sse" and "websocket" only'
const INSTANCES = 'must be a whole number from 1 to 100, or a list of instances'
const FILLED = 'once its variables are filled in'

/** Faulty fields of the server `web`, all in line 2, which an editor with the JSON Schema sees too. */
export const FORMS: [name: string, fields: string, column: number, fault: string][] = [
  ['nothing', '', 10, 'command: is missing'],
  ['a remote type without a URL', '"type": "http"', 10, 'url: is missing'],
  ['an empty command', '"command": ""', 23, 'command: must not be empty'],
  ['a command and a URL', `${C}, ${U}`, 28, `url: ${REMOTE}`],
  ['args in one text', `${C}, "args": "-x"`, 36, 'args: must be a list'],
  ['a number as a variable', `${C}, "env": { "P": 8 }`, 42, 'env.P: must be a string'],
  ['a bad variable', `${C}, "env": { "a-b": "" }`, 37, 'env.a-b: is not a valid variable name'],
  ['an unknown field', `${C}, "dir": "x"`, 28, 'dir: is not a known field'],
  [
    'an unknown field inside',
    `${C}, "limits": { "ram": 1 }`,
    40,
    'limits.ram: is not a known field',
  ],
  ['an unknown type', `"type": "pipe", ${C}`, 20, `type: ${TYPES}`],
  ['a number as type', `"type": 7, ${U}`, 20, `type: ${TYPES}`],
  ['a local URL', `"type": "local", ${C}, ${U}`, 45, `url: ${REMOTE}`],
  [
    'local http',
    `"type": "local", "transport": "http", ${C}`,
    42,
    'transport: must be "stdio" here',
  ],
  [
    'remote stdio',
    `"type": "remote", "transport": "stdio", ${U}`,
    43,
    'transport: must be "http" or "streamable-http" or "sse" here',
  ],
  ['headers of a process', `${C}, "headers": {}`, 28, `headers: ${REMOTE}`],
  ['limits of a URL', `${U}, "limits": {}`, 31, 'limits: is for servers of type "stdio" only'],
  ['a bad header', `${U}, "headers": { "a b": "" }`, 44, 'headers.a b: is not a valid header name'],
  ['headers in a list', `${U}, "headers": []`, 42, 'headers: must be an object'],
  ['a header name', `${U}, "headers": { "a": 1 }`, 49, 'headers.a: must be a string'],
  ['no time', `${C}, "timeout": 0`, 39, 'timeout: must be more than 0'],
  ['a time in a text', `${C}, "timeout": "1"`, 39, 'timeout: must be a number'],
  [
    'a time past what timers hold',
    `${C}, "timeoutMs": 2147483648`,
    41,
    'timeoutMs: must be at most 2147483647',
  ],
  [
    'an unknown policy',
    `${C}, "restart": "maybe"`,
    39,
    'restart: must be "no", "on-failure" or "always", or an object',
  ],
  [
    'an unknown policy inside',
    `${C}, "restart": { "policy": "maybe" }`,
    51,
    'restart.policy: must be "no", "on-failure" or "always"',
  ],
  ['no policy', `${C}, "restart": { "windowMs": 1 }`, 39, 'restart.policy: is missing'],
  [
    'half a restart',
    `${C}, "restart": { "policy": "no", "maxRestarts": 0.5 }`,
    72,
    'restart.maxRestarts: must be a whole number',
  ],
  ['a check without a time', `${C}, "healthCheck": {}`, 43, 'healthCheck.intervalMs: is missing'],
  ['tools in a list', `${C}, "tools": ["a"]`, 37, 'tools: must be an object'],
  ['an empty tool', `${C}, "tools": { "deny": [""] }`, 48, 'tools.deny[0]: must not be empty'],
  ['no calls', `${C}, "maxConcurrentCalls": 0`, 50, 'maxConcurrentCalls: must be more than 0'],
  [
    'a validation',
    `${C}, "validateArguments": true`,
    49,
    'validateArguments: must be "strict", "lenient" or "off"',
  ],
  ['a protocol', `${C}, "protocol": "v2"`, 40, 'protocol: must be "auto", "legacy" or "modern"'],
  ['a scope', `${C}, "scope": "user"`, 37, 'scope: must be "shared" or "session"'],
  ['a placement', `${C}, "placement": "all"`, 41, 'placement: must be "one" or "every"'],
  ['disabled in a text', `${C}, "disabled": "no"`, 40, 'disabled: must be true or false'],
  ['one dependency', `${C}, "dependencies": "a"`, 44, 'dependencies: must be a list'],
  ['no instance', `${C}, "instances": 0`, 41, `instances: ${INSTANCES}`],
  ['more instances than anybody means', `${C}, "instances": 101`, 41, `instances: ${INSTANCES}`],
  ['half an instance', `${C}, "instances": 1.5`, 41, `instances: ${INSTANCES}`],
  ['an empty list of instances', `${U}, "instances": []`, 44, 'instances: must not be empty'],
  ['a count of addresses', `${U}, "instances": 2`, 44, 'instances: must be a list of instances'],
  [
    'a misspelt field of an instance',
    `${C}, "instances": [{}, { "wieght": 2 }]`,
    48,
    'instances[1].wieght: is not a known field',
  ],
  [
    'an instance without a share',
    `${U}, "instances": [{ "weight": 0 }]`,
    57,
    'instances[0].weight: must be more than 0',
  ],
  [
    'a command of an instance',
    `${C}, "instances": [{ ${C} }]`,
    44,
    'instances[0].command: is not a known field',
  ],
  ['addresses of instances alone', `"instances": [{ ${U} }]`, 10, 'url: is missing'],
  [
    'a policy of nobody',
    `${C}, "instances": 2, "balance": "random"`,
    55,
    'balance: must be "round-robin", "weighted", "least-in-flight" or "health-scored"',
  ],
]

/** Faulty fields that only the host sees. */
export const MEANINGS: typeof FORMS = [
  ['a NUL', `${C}, "args": ["\\u0000"]`, 37, `args[0]: ${NUL}`],
  ['a field twice', `${C}, "env": { "A": "", "A": "" }`, 46, 'env.A: is there twice'],
  ['another id', `"id": "site", ${C}`, 18, 'id: differs from the key of the server'],
  ['two ways', `"type": "http", "transport": "sse", ${U}`, 41, 'transport: contradicts "type"'],
  ['two times', `${C}, "timeout": 1, "timeoutMs": 1`, 55, 'timeoutMs: contradicts "timeout"'],
  ['no URL', '"url": "example"', 19, 'url: is not a valid URL'],
  ['a URL of a file', '"url": "file:///a"', 19, 'url: must start with http:// or https://'],
  [
    'a WebSocket as http',
    '"type": "http", "url": "ws://a"',
    35,
    'url: must start with http:// or https://',
  ],
  ['http as a WebSocket', `"type": "ws", ${U}`, 33, 'url: must start with ws:// or wss://'],
  [
    'a password in a URL',
    '"url": "http://me:it@a"',
    19,
    'url: must not contain a user name or password: put them into "headers"',
  ],
  [
    'a line break in a header',
    `${U}, "headers": { "a": "b\\r\\nc: d" }`,
    49,
    'headers.a: has characters that a header cannot have',
  ],
  [
    'a line break from a variable',
    `${U}, "headers": { "a": "\${BREAK}" }`,
    49,
    `headers.a: has characters that a header cannot have ${FILLED}`,
  ],
  [
    'a header in two cases',
    `${U}, "headers": { "a": "", "A": "" }`,
    58,
    'headers.A: is there twice: upper and lower case are one in the name of a header',
  ],
  [
    'an instance of another kind',
    `${U}, "instances": [{ "url": "ws://a" }]`,
    54,
    'instances[0].url: must start with http:// or https://',
  ],
  [
    'instances for each session',
    `${C}, "instances": 2, "scope": "session"`,
    41,
    'instances: contradicts "scope": "session", with which each session has a process of its own',
  ],
  [
    'nothing to spread requests over',
    `${C}, "balance": "round-robin"`,
    39,
    'balance: has nothing to spread requests over',
  ],
  ['a root', `${U}, "roots": ["http://a"]`, 41, 'roots[0]: must be a folder or a file:// URI'],
  ['no file of variables', `${C}, "envFile": "none.env"`, 39, 'envFile: does not exist'],
  ['an unset variable', '"command": "${NO}"', 23, 'command: uses NO, which is not set'],
  [
    'an unset one inside',
    `${C}, "env": { "A": "\${env:NO}" }`,
    42,
    'env.A: uses NO, which is not set',
  ],
  ['two unset ones', '"command": "${NO}${NOR}"', 23, 'command: uses NO and NOR, which are not set'],
  ['an input', '"command": "${input:x}"', 23, 'command: has ${input:x}, which is not a variable'],
  ['an open reference', '"command": "${HOME"', 23, 'command: has ${HOME, which is not a variable'],
  ['an empty variable', '"command": "${EMPTY}"', 23, `command: must not be empty ${FILLED}`],
]
