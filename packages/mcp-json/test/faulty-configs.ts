/** A file with these lines. */
export const lines = (...text: string[]): string => text.join('\n')

/** A file with one server; its fields are in line 2. */
export const server = (fields: string): string =>
  lines('{ "servers": {', `  "web": { ${fields} }`, '} }')

const two = (first: string, second: string): string =>
  lines('{ "servers": {', `  "a": ${first},`, `  "b": ${second} } }`)
const dependent = (dependencies: string): string =>
  `{ "command": "x", "dependencies": ${dependencies} }`

/** Faulty files, and whether an editor with the JSON Schema reports the fault too. */
export const FILES: [name: string, text: string, isSeenInEditors: boolean, ...faults: string[]][] =
  [
    ['an empty file', '', false, '1:1 : is not valid JSON: value expected'],
    [
      'missing comma',
      '{ "servers": {}\n "x": 1 }',
      false,
      '2:2 : is not valid JSON: comma expected',
    ],
    ['a list', '\n []', true, '2:2 : must be an object'],
    ['no field "servers"', ' {}', true, '1:2 servers: is missing'],
    ['servers: a string', '{ "servers": "a" }', true, '1:14 servers: must be an object or a list'],
    [
      'Windows line endings',
      '{\r\n"servers":\r\n 1}',
      true,
      '3:2 servers: must be an object or a list',
    ],
    ['an unknown field', '{ "servers": {}, "x": [] }', true, '1:18 x: is not a known field'],
    [
      'a duplicate server in one object',
      lines('{ "servers": {', '  "a": { "command": "x" },', '  "a": { "command": "y" } } }'),
      false,
      '3:3 servers.a: is there twice',
    ],
    [
      'a server in "servers" and in "mcpServers"',
      lines(
        '{ "servers": { "a": { "command": "x" } },',
        '"mcpServers": { "a": { "url": "ws://x" } } }',
      ),
      false,
      '2:17 mcpServers.a: is there twice, first as servers.a',
    ],
    [
      'a duplicate server in a list',
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
      'a name with a variable',
      '{ "servers": [ { "id": "${TOKEN}", "command": "x" } ] }',
      false,
      '1:24 servers[0].id: is not a valid server name',
    ],
    ['string in a list', '{ "servers": [ "a" ] }', true, '1:16 servers[0]: must be an object'],
    [
      'a string as a server',
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
      'the name of a property that every object has',
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
      'a dependency that does not exist',
      two('{ "command": "x" }', dependent('["a", "c"]')),
      false,
      '3:48 servers.b.dependencies[1]: is not the name of a server',
    ],
    [
      'a duplicate dependency',
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
      'a cycle of three, and a server that depends on the cycle',
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
const TYPES = 'must be "stdio", "http", "sse", "websocket" or "built-in"'
const REMOTE = 'is for servers of type "http", "sse" and "websocket" only'
const INSTANCES = 'must be a whole number from 1 to 100, or a list of instances'
const FILLED = 'once its variables are filled in'

/** Faulty fields of the server `web`, all in line 2, that an editor with the JSON Schema reports too. */
export const FORMS: [name: string, fields: string, column: number, fault: string][] = [
  ['no fields', '', 10, 'command: is missing'],
  ['a remote type without a URL', '"type": "http"', 10, 'url: is missing'],
  ['an empty command', '"command": ""', 23, 'command: must not be empty'],
  ['a command and a URL', `${C}, ${U}`, 28, `url: ${REMOTE}`],
  ['args as a string', `${C}, "args": "-x"`, 36, 'args: must be a list'],
  ['a variable that is a number', `${C}, "env": { "P": 8 }`, 42, 'env.P: must be a string'],
  ['a variable name', `${C}, "env": { "a=b": "" }`, 37, 'env.a=b: is not a valid variable name'],
  ['an unknown field', `${C}, "dir": "x"`, 28, 'dir: is not a known field'],
  [
    'an unknown nested field',
    `${C}, "limits": { "ram": 1 }`,
    40,
    'limits.ram: is not a known field',
  ],
  ['an unknown type', `"type": "pipe", ${C}`, 20, `type: ${TYPES}`],
  ['a type that is a number', `"type": 7, ${U}`, 20, `type: ${TYPES}`],
  ['a URL of type "local"', `"type": "local", ${C}, ${U}`, 45, `url: ${REMOTE}`],
  [
    'type "local" over http',
    `"type": "local", "transport": "http", ${C}`,
    42,
    'transport: must be "stdio" here',
  ],
  [
    'type "remote" over stdio',
    `"type": "remote", "transport": "stdio", ${U}`,
    43,
    'transport: must be "http" or "streamable-http" or "sse" here',
  ],
  ['headers of a stdio server', `${C}, "headers": {}`, 28, `headers: ${REMOTE}`],
  ['limits of a URL', `${U}, "limits": {}`, 31, 'limits: is for servers of type "stdio" only'],
  ['header name', `${U}, "headers": { "a b": "" }`, 44, 'headers.a b: is not a valid header name'],
  ['headers as a list', `${U}, "headers": []`, 42, 'headers: must be an object'],
  ['a header that is a number', `${U}, "headers": { "a": 1 }`, 49, 'headers.a: must be a string'],
  ['a timeout of 0', `${C}, "timeout": 0`, 39, 'timeout: must be more than 0'],
  ['a timeout as a string', `${C}, "timeout": "1"`, 39, 'timeout: must be a number'],
  [
    'a timeout longer than timers can hold',
    `${C}, "timeoutMs": 2147483648`,
    41,
    'timeoutMs: must be at most 2147483647',
  ],
  [
    'an unknown restart policy',
    `${C}, "restart": "maybe"`,
    39,
    'restart: must be "no", "on-failure" or "always", or an object',
  ],
  [
    'an unknown policy in a restart object',
    `${C}, "restart": { "policy": "maybe" }`,
    51,
    'restart.policy: must be "no", "on-failure" or "always"',
  ],
  ['missing policy', `${C}, "restart": { "windowMs": 1 }`, 39, 'restart.policy: is missing'],
  [
    'a fractional number of restarts',
    `${C}, "restart": { "policy": "no", "maxRestarts": 0.5 }`,
    72,
    'restart.maxRestarts: must be a whole number',
  ],
  ['missing interval', `${C}, "healthCheck": {}`, 43, 'healthCheck.intervalMs: is missing'],
  ['tools as a list', `${C}, "tools": ["a"]`, 37, 'tools: must be an object'],
  ['an empty tool name', `${C}, "tools": { "deny": [""] }`, 48, 'tools.deny[0]: must not be empty'],
  ['zero calls', `${C}, "maxConcurrentCalls": 0`, 50, 'maxConcurrentCalls: must be more than 0'],
  [
    'an unknown validation',
    `${C}, "validateArguments": true`,
    49,
    'validateArguments: must be "strict", "lenient" or "off"',
  ],
  ['protocol', `${C}, "protocol": "v2"`, 40, 'protocol: must be "auto", "legacy" or "modern"'],
  ['an unknown scope', `${C}, "scope": "user"`, 37, 'scope: must be "shared" or "session"'],
  ['a placement', `${C}, "placement": "all"`, 41, 'placement: must be "one" or "every"'],
  ['disabled as a string', `${C}, "disabled": "no"`, 40, 'disabled: must be true or false'],
  ['dependencies as a string', `${C}, "dependencies": "a"`, 44, 'dependencies: must be a list'],
  ['instances: 0', `${C}, "instances": 0`, 41, `instances: ${INSTANCES}`],
  ['more instances than the limit', `${C}, "instances": 101`, 41, `instances: ${INSTANCES}`],
  ['a fractional number of instances', `${C}, "instances": 1.5`, 41, `instances: ${INSTANCES}`],
  ['an empty list of instances', `${U}, "instances": []`, 44, 'instances: must not be empty'],
  ['a remote count', `${U}, "instances": 2`, 44, 'instances: must be a list of instances'],
  [
    'a misspelled field of an instance',
    `${C}, "instances": [{}, { "wieght": 2 }]`,
    48,
    'instances[1].wieght: is not a known field',
  ],
  [
    'an instance of weight 0',
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
  [
    'instances with URLs, and no URL of the server',
    `"instances": [{ ${U} }]`,
    10,
    'url: is missing',
  ],
  [
    'an unknown balance policy',
    `${C}, "instances": 2, "balance": "random"`,
    55,
    'balance: must be "round-robin", "weighted", "least-in-flight" or "health-scored"',
  ],
]

/** Faulty fields that only the host reports. */
export const MEANINGS: typeof FORMS = [
  ['a NUL character', `${C}, "args": ["\\u0000"]`, 37, `args[0]: ${NUL}`],
  ['a duplicate field', `${C}, "env": { "A": "", "A": "" }`, 46, 'env.A: is there twice'],
  ['another id', `"id": "site", ${C}`, 18, 'id: differs from the key of the server'],
  [
    'two transports',
    `"type": "http", "transport": "sse", ${U}`,
    41,
    'transport: contradicts "type"',
  ],
  ['two timeouts', `${C}, "timeout": 1, "timeoutMs": 1`, 55, 'timeoutMs: contradicts "timeout"'],
  ['an invalid URL', '"url": "example"', 19, 'url: is not a valid URL'],
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
    'a header in upper and in lower case',
    `${U}, "headers": { "a": "", "A": "" }`,
    58,
    'headers.A: is there twice: upper and lower case are one in the name of a header',
  ],
  [
    'an instance with another transport',
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
    'a balance policy without instances',
    `${C}, "balance": "round-robin"`,
    39,
    'balance: has nothing to spread requests over',
  ],
  ['a root', `${U}, "roots": ["http://a"]`, 41, 'roots[0]: must be a folder or a file:// URI'],
  ['a missing file of variables', `${C}, "envFile": "none.env"`, 39, 'envFile: does not exist'],
  ['an unset variable', '"command": "${NO}"', 23, 'command: uses NO, which is not set'],
  [
    'an unset variable in a nested field',
    `${C}, "env": { "A": "\${env:NO}" }`,
    42,
    'env.A: uses NO, which is not set',
  ],
  ['two variables', '"command": "${NO}${NOR}"', 23, 'command: uses NO and NOR, which are not set'],
  ['an input', '"command": "${input:x}"', 23, 'command: has ${input:x}, which is not a variable'],
  ['an open reference', '"command": "${HOME"', 23, 'command: has ${HOME, which is not a variable'],
  ['an empty variable', '"command": "${EMPTY}"', 23, `command: must not be empty ${FILLED}`],
]
