import type { DummyRuleMap } from 'oxlint'
import { defineConfig } from 'oxlint'

/** Packages that only one place may import, with the reason that the linter prints. */
const restricted = {
  processes: {
    group: ['node:child_process', 'child_process'],
    message: 'Only packages/process starts processes.',
  },
  broker: {
    group: ['@nats-io/*'],
    message: 'Only packages/bus knows the broker; use @mcp-host/bus.',
  },
  http: {
    group: ['fastify', '@fastify/*'],
    message: 'HTTP is served by services/gateway and packages/service only.',
  },
  vendors: {
    group: ['@ai-sdk/*', '!@ai-sdk/provider'],
    message: "A vendor's client stays in its own folder under services/llm-worker/src/providers.",
  },
  testkit: {
    group: ['@mcp-host/testkit', '@mcp-host/mcp-testkit'],
    message: 'The testkits are for tests only.',
  },
}

/** The rule about imports for the place that may use one of the restricted packages. */
function mayImport(allowed?: keyof typeof restricted): DummyRuleMap {
  const patterns = Object.entries(restricted).flatMap(([name, pattern]) =>
    name === allowed ? [] : [pattern],
  )
  return { 'no-restricted-imports': ['error', { patterns }] }
}

/** Files with a function that is still longer, and its lines. The list only gets shorter. */
const longFunctions = {
  'chaos/fleet.ts': 108,
  'chaos/options.ts': 93,
  'packages/bus/src/follow.ts': 90,
  'packages/upstream/src/npm/run-package.ts': 97,
  'packages/service/src/run-service.ts': 114,
  'packages/web/src/apps/app-card.tsx': 83,
  'packages/web/src/composer/composer.tsx': 99,
  'packages/web/src/pages/account/key-form.tsx': 82,
  'packages/web/src/pages/palette.tsx': 100,
  'services/gateway/src/auth/account-routes.ts': 132,
  'services/gateway/src/auth/accounts/create-provider.ts': 112,
  'services/gateway/src/auth/auth-routes.ts': 127,
  'services/gateway/src/gateway.ts': 168,
  'services/gateway/src/http/app.ts': 218,
  'services/gateway/src/http/shares/manage-shares.ts': 84,
  'services/gateway/src/http/shares/read-shared.ts': 97,
  'services/gateway/src/socket/socket.ts': 83,
  'services/llm-worker/src/generation/run-generation.ts': 103,
  'services/llm-worker/src/models/ai-sdk/ai-sdk-model.ts': 91,
  'services/llm-worker/src/worker.ts': 104,
  'services/mcp-supervisor/src/supervisor.ts': 177,
  'tools/accounts.ts': 106,
  'tools/chat.ts': 117,
  'tools/host/run-host.ts': 138,
}

/** The limit for a function without its comments and blank lines. */
function functionLines(max: number): DummyRuleMap {
  return { 'max-lines-per-function': ['error', { max, skipBlankLines: true, skipComments: true }] }
}

/** Code that is no part of the product. */
const programs = ['bench/**', 'chaos/**', 'conformance/**', 'compat/**', 'deploy/**', 'examples/**']
const tests = [
  'test/**',
  'fuzz/**',
  'packages/{mcp-,}testkit/**',
  'packages/*/test/**',
  'services/*/test/**',
  '**/*.test.ts',
  '**/*.test.mjs',
]

export default defineConfig({
  plugins: ['typescript', 'unicorn', 'oxc', 'import', 'node'],
  jsPlugins: ['./tools/lint/outside-names.ts'],
  categories: { correctness: 'error', suspicious: 'error' },
  rules: {
    'typescript/no-floating-promises': 'error',
    'typescript/no-misused-promises': 'error',
    'typescript/await-thenable': 'error',
    'typescript/switch-exhaustiveness-check': [
      'error',
      { considerDefaultExhaustiveForUnions: true },
    ],
    'import/no-cycle': 'error',
    'outside-names/no-lookup': 'error',
    'import/no-default-export': 'error',
    'no-console': 'error',
    'node/no-process-env': 'error',
    'unicorn/no-process-exit': 'error',
    ...functionLines(80),
    ...mayImport(),
    'typescript/no-unsafe-type-assertion': 'off',
    'unicorn/consistent-function-scoping': 'off',
    'no-underscore-dangle': 'off',
    'no-unmodified-loop-condition': 'off',
  },
  overrides: [
    { files: ['packages/bus/**'], rules: mayImport('broker') },
    { files: ['services/gateway/**', 'packages/service/**'], rules: mayImport('http') },
    { files: ['packages/{process,upstream}/**'], rules: mayImport('processes') },
    { files: ['services/llm-worker/src/providers/**'], rules: mayImport('vendors') },
    { files: ['services/*/src/main.ts'], rules: { 'node/no-process-env': 'off' } },
    { files: ['packages/service/**'], rules: { 'unicorn/no-process-exit': 'off' } },
    {
      files: ['tools/**', ...programs, ...tests],
      rules: { 'no-restricted-imports': 'off', 'node/no-process-env': 'off' },
    },
    {
      files: ['tools/run.mjs', ...programs, ...tests, '**/__fixtures__/**'],
      rules: { 'outside-names/no-lookup': 'off' },
    },
    {
      files: ['tools/**', ...programs, 'packages/*/test/**', 'packages/mcp-testkit/fixtures/**'],
      rules: { 'no-console': 'off', 'unicorn/no-process-exit': 'off' },
    },
    { files: ['*.config.ts'], rules: { 'import/no-default-export': 'off' } },
    ...Object.entries(longFunctions).map(([file, lines]) => ({
      files: [file],
      rules: functionLines(lines),
    })),
    { files: [...tests, '**/__fixtures__/**'], rules: { 'max-lines-per-function': 'off' } },
  ],
  ignorePatterns: ['**/node_modules/**', '**/.data/**'],
})
