import * as fc from 'fast-check'

/** For each property; `npm run fuzz -- --minutes N` gives more. */
const SECONDS = 1.5
/** What needs no second is over sooner. */
const RUNS = 2_000
/** One case that takes longer counts as one that never ends. */
const HANGS_MS = 10_000

const { FUZZ_SEED, FUZZ_SECONDS } = process.env

fc.configureGlobal({
  seed: Number(FUZZ_SEED),
  interruptAfterTimeLimit: Number(FUZZ_SECONDS ?? SECONDS) * 1_000,
  numRuns: FUZZ_SECONDS === undefined ? RUNS : Number.MAX_SAFE_INTEGER,
  timeout: HANGS_MS,
})
