import type { Config } from '@mcp-host/service'
import { auditSettings, publicUrlSetting, Secret, setting, values } from '@mcp-host/service'
import { z } from 'zod'

const KEY_BYTES = 32
const tokenKeys = values.list.transform((keys, context) => {
  for (const key of keys) {
    if (Buffer.from(key, 'base64').length === KEY_BYTES) continue
    context.addIssue({ code: 'custom', message: `must be keys of ${KEY_BYTES} bytes in Base64` })
  }
  return keys.map((key) => new Secret(key))
})

/** Settings of the supervisors. */
export const supervisorSettings = {
  mcpJsonPath: setting({
    env: 'MCP_JSON_PATH',
    schema: values.text,
    default: './mcp.json',
    describe:
      'File that lists the MCP servers to run, in JSON or, with the ending .yaml or .yml, in YAML.',
  }),
  defaultToolTimeoutMs: setting({
    env: 'DEFAULT_TOOL_TIMEOUT_MS',
    schema: values.integer(1, 86_400_000),
    default: '60000',
    describe:
      'How long a tool call may take when its server sets no time of its own, in milliseconds.',
  }),
  installTimeoutMs: setting({
    env: 'INSTALL_TIMEOUT_MS',
    schema: values.integer(1_000, 3_600_000),
    default: '180000',
    describe:
      'How long the first start of an MCP server may take that `npx`, `uvx`, `docker` or the like may have to fetch, in milliseconds. `startTimeoutMs` of a server takes its place.',
  }),
  inputTimeoutMs: setting({
    env: 'INPUT_TIMEOUT_MS',
    schema: values.integer(1_000, 3_600_000),
    default: '300000',
    describe:
      'How long a question that an MCP server asks the user waits for its answer, in milliseconds.',
  }),
  maxSessionProcesses: setting({
    env: 'MAX_SESSION_PROCESSES',
    schema: values.integer(1, 100_000),
    default: '100',
    describe:
      'How many processes of their own sessions may have at one supervisor, of servers with `"scope": "session"`, together with those of users, of programs with `auth`. Those of one principal take a quarter at most, and at least 4.',
  }),
  maxUserConnections: setting({
    env: 'MAX_USER_CONNECTIONS',
    schema: values.integer(1, 100_000),
    default: '1000',
    describe:
      'How many connections one supervisor has to servers with one connection for each user. Those of one principal take a quarter at most, and at least 4.',
  }),
  publicUrl: publicUrlSetting,
  tokenKeys: setting({
    env: 'TOKEN_ENC_KEY',
    schema: tokenKeys.optional(),
    isSecret: true,
    describe:
      'Keys that seal the tokens of users at MCP servers, by commas: each 32 random bytes in Base64, as from `openssl rand -base64 32`. The first one seals, and signs assertions about users; the others open what they sealed earlier. `npm start` makes one.',
  }),
  sandbox: setting({
    env: 'SANDBOX',
    schema: z.enum(['auto', 'none', 'uid', 'bwrap'], { error: 'must be auto, none, uid or bwrap' }),
    default: 'auto',
    describe:
      'How programs of MCP servers are separated from the host and from each other, unless `sandbox` of their entry says so: `bwrap` by bubblewrap, `uid` by a user for each server, `none`, or `auto` for the strongest that this machine offers.',
  }),
  sandboxHomes: setting({
    env: 'SANDBOX_HOMES',
    schema: values.text.optional(),
    describe:
      'Absolute path of a folder for the homes of MCP servers, one for each with its caches. `SANDBOX=uid` needs it, and a supervisor that is root.',
  }),
  sandboxHidden: setting({
    env: 'SANDBOX_HIDDEN',
    schema: values.list,
    default: '',
    describe:
      'Absolute paths of files and folders that programs in a sandbox do not see, by commas. `npm start` adds DATA_DIR and the files with its settings and secrets.',
  }),
  sandboxReadOnly: setting({
    env: 'SANDBOX_READ_ONLY',
    schema: values.list,
    default: '',
    describe:
      'Absolute paths of files and folders that programs in a sandbox cannot change, by commas. `npm start` adds its own program and configuration.',
  }),
  sandboxWritable: setting({
    env: 'SANDBOX_WRITABLE',
    schema: values.list,
    default: '',
    describe:
      'Absolute paths of folders within those of SANDBOX_READ_ONLY that programs can change nevertheless, by commas. `npm start` adds its folder `examples`.',
  }),
  ...auditSettings,
}

export type SupervisorConfig = Config<typeof supervisorSettings>
