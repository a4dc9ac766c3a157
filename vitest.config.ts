import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

const brokerTests = '**/*.broker.test.ts'
const endToEndTests = 'test/**/*.e2e.test.ts'
// What takes too long for `npm test`; `npm run test:long` has the list.
const longTests = '**/*.long.test.ts'
const fuzzTests = 'fuzz/**/*.fuzz.test.ts'
const outside = ['**/node_modules/**', '**/.data/**']
const waiting = { maxWorkers: availableParallelism() + 2, sequence: { groupOrder: 1 } }
const endToEnd = {
  globalSetup: ['test/build-services.ts'],
  testTimeout: 120_000,
  hookTimeout: 120_000,
  expect: { poll: { timeout: 20_000 } },
}

// Cheap tests run first: what is wrong in the small need not be searched in the large. Those of the second group wait for
// processes and time limits for half of their time.
export default defineConfig({
  test: {
    // The NATS client's write to a socket it has just ended when the broker goes away: run-service.ts has the story.
    onUnhandledError: (error) =>
      !('code' in error && error.code === 'ERR_STREAM_WRITE_AFTER_END') ||
      error.stack?.includes('transport-node') !== true,
    // Measured by `npm run coverage` alone. What runs in other processes does not count.
    coverage: {
      provider: 'v8',
      include: ['packages/{async,json,mcp,mcp-host,mcp-json,process,upstream}/src/**/*.ts'],
      exclude: ['**/*.test.ts'],
      reporter: ['text-summary', 'html'],
      reportsDirectory: '.data/coverage',
      thresholds: { lines: 80 },
    },
    // Files of one worker share their modules (`isolate: false`), which halves the time: no file may change a global for
    // longer than a test.
    projects: [
      {
        test: {
          name: 'unit',
          isolate: false,
          include: ['**/*.test.{ts,mjs}'],
          exclude: [...outside, brokerTests, endToEndTests, fuzzTests, longTests],
          testTimeout: 30_000,
          hookTimeout: 30_000,
          maxWorkers: availableParallelism(),
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          name: 'fuzz',
          isolate: false,
          include: [fuzzTests],
          exclude: outside,
          globalSetup: ['fuzz/seed.ts'],
          setupFiles: ['fuzz/setup.ts'],
          // fast-check ends each property by itself, also in a long run.
          testTimeout: 0,
          maxWorkers: availableParallelism(),
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          ...waiting,
          name: 'broker',
          isolate: false,
          include: [brokerTests],
          exclude: outside,
          testTimeout: 30_000,
          hookTimeout: 30_000,
        },
      },
      {
        test: {
          ...endToEnd,
          ...waiting,
          name: 'e2e',
          isolate: false,
          include: [endToEndTests],
          exclude: outside,
        },
      },
      {
        test: {
          ...endToEnd,
          name: 'long',
          maxWorkers: 1,
          include: [longTests],
          exclude: outside,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
})
