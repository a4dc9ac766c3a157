import * as fc from 'fast-check'

/** The time for each property; `npm run fuzz -- --minutes N` sets more. */
const SECONDS = 1.5
/** Ends a property earlier that runs fast. */
const RUNS = 2_000
/** A case that takes longer counts as one that hangs. */
const HANGS_MS = 10_000

const { FUZZ_SEED, FUZZ_SECONDS } = process.env

fc.configureGlobal({
  seed: Number(FUZZ_SEED),
  interruptAfterTimeLimit: Number(FUZZ_SECONDS ?? SECONDS) * 1_000,
  numRuns: FUZZ_SECONDS === undefined ? RUNS : Number.MAX_SAFE_INTEGER,
  timeout: HANGS_MS,
})
