// Builds the web UI into the folder that is given.
import { buildWeb } from './build-web.ts'

const [folder = ''] = process.argv.slice(2)
await buildWeb(folder)
