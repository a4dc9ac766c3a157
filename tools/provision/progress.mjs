/** Says on stderr that something slow is going on, and how long it took. */
export async function showProgress(what, work) {
  const start = performance.now()
  process.stderr.write(`${what} … `)
  try {
    const result = await work()
    process.stderr.write(`done in ${Math.ceil((performance.now() - start) / 1000)} s\n`)
    return result
  } catch (error) {
    process.stderr.write('failed\n')
    throw error
  }
}
