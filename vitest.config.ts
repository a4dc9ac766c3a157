import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

const brokerTests = '**/*.broker.test.ts'
const endToEndTests = 'test/**/*.e2e.test.ts'
const fuzzTests = 'fuzz/**/*.fuzz.test.ts'
const outside = ['**/node_modules/**', '**/.data/**']

// The groups run one after another, cheap ones first: what is wrong in the small need not be searched in the large.
export default defineConfig({
  test: {
    // The NATS client's write to a socket it has just ended when the broker goes away: run-service.ts has the story.
    onUnhandledError: (error) =>
      !('code' in error && error.code === 'ERR_STREAM_WRITE_AFTER_END') ||
      error.stack?.includes('transport-node') !== true,
    // Measured by `npm run coverage` alone. What runs in other processes does not count.
    coverage: {
      provider: 'v8',
      include: ['packages/mcp-host/src/**/*.ts'],
      exclude: ['**/*.test.ts'],
      reporter: ['text-summary', 'html'],
      reportsDirectory: '.data/coverage',
      thresholds: { lines: 80 },
    },
    projects: [
      {
        test: {
          name: 'unit',
          include: ['**/*.test.{ts,mjs}'],
          exclude: [...outside, brokerTests, endToEndTests, fuzzTests],
          testTimeout: 30_000,
          hookTimeout: 30_000,
          maxWorkers: availableParallelism(),
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          name: 'fuzz',
          include: [fuzzTests],
          exclude: outside,
          globalSetup: ['fuzz/seed.ts'],
          setupFiles: ['fuzz/setup.ts'],
          // fast-check ends each property by itself, also in a long run.
          testTimeout: 0,
          maxWorkers: availableParallelism(),
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          name: 'broker',
          include: [brokerTests],
          exclude: outside,
          testTimeout: 30_000,
          hookTimeout: 30_000,
          maxWorkers: availableParallelism(),
          sequence: { groupOrder: 2 },
        },
      },
      {
        test: {
          name: 'e2e',
          include: [endToEndTests],
          exclude: outside,
          testTimeout: 120_000,
          hookTimeout: 120_000,
          // Each file runs a whole host of six processes: two files at once fill a small machine's cores.
          maxWorkers: Math.max(1, Math.floor(availableParallelism() / 2)),
          sequence: { groupOrder: 3 },
        },
      },
    ],
  },
})
