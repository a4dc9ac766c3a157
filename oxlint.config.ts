import type { DummyRuleMap } from 'oxlint'
import { defineConfig } from 'oxlint'

/** Packages that only one place may import, with the reason that the linter prints. */
const restricted = {
  processes: {
    group: ['node:child_process', 'child_process'],
    message: 'Only packages/mcp-host starts processes.',
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
    group: ['@mcp-host/testkit'],
    message: 'The testkit is for tests only.',
  },
}

/** The rule about imports for the place that may use one of the restricted packages. */
function mayImport(allowed?: keyof typeof restricted): DummyRuleMap {
  const patterns = Object.entries(restricted).flatMap(([name, pattern]) =>
    name === allowed ? [] : [pattern],
  )
  return { 'no-restricted-imports': ['error', { patterns }] }
}

/** Code that is no part of the product. */
const programs = ['bench/**', 'chaos/**', 'conformance/**', 'compat/**', 'deploy/**', 'examples/**']
const tests = [
  'test/**',
  'fuzz/**',
  'packages/testkit/**',
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
    ...mayImport(),
    'typescript/no-unsafe-type-assertion': 'off',
    'unicorn/consistent-function-scoping': 'off',
    'no-underscore-dangle': 'off',
    'no-unmodified-loop-condition': 'off',
  },
  overrides: [
    { files: ['packages/bus/**'], rules: mayImport('broker') },
    { files: ['services/gateway/**', 'packages/service/**'], rules: mayImport('http') },
    { files: ['packages/mcp-host/**'], rules: mayImport('processes') },
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
      files: ['tools/**', ...programs, 'packages/*/test/fixtures/**'],
      rules: { 'no-console': 'off', 'unicorn/no-process-exit': 'off' },
    },
    { files: ['*.config.ts'], rules: { 'import/no-default-export': 'off' } },
  ],
  ignorePatterns: ['**/node_modules/**', '**/.data/**'],
})
