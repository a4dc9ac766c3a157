// An MCP server to copy: one tool, one resource, no network. Node 24 runs it as it is: node server.ts
import { McpServer } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { z } from 'zod'

/** Degrees Celsius in January and July, and how often it rains, from 0 to 1. */
const climates: Readonly<Record<string, { january: number; july: number; rain: number }>> = {
  berlin: { january: 1, july: 20, rain: 0.3 },
  nairobi: { january: 20, july: 17, rain: 0.2 },
  oslo: { january: -4, july: 18, rain: 0.3 },
  sydney: { january: 24, july: 13, rain: 0.3 },
  tokyo: { january: 6, july: 26, rain: 0.4 },
}

const Forecast = z.object({
  city: z.string(),
  days: z.array(z.object({ date: z.string(), celsius: z.number(), rain: z.boolean() })),
})

function forecast(city: string, first: Date, count: number): z.infer<typeof Forecast> {
  const climate = climates[city.toLowerCase()]
  if (climate === undefined) {
    // The message is the tool's result, so tell the model what it can do instead.
    throw new Error(`No weather for ${city}. Known: ${Object.keys(climates).join(', ')}.`)
  }
  const days = Array.from({ length: count }, (_, index) => {
    const date = new Date(first.getTime() + index * 24 * 60 * 60 * 1_000)
    const summer = (1 - Math.cos((date.getUTCMonth() * Math.PI) / 6)) / 2
    const celsius = Math.round(climate.january + summer * (climate.july - climate.january))
    const isWet = (date.getUTCDate() * 7) % 10 < climate.rain * 10
    return { date: date.toISOString().slice(0, 10), celsius, rain: isWet }
  })
  return { city, days }
}

function createServer(): McpServer {
  const server = new McpServer({ name: 'weather', version: '1.0.0' })

  server.registerTool(
    'get_forecast',
    {
      title: 'Weather forecast',
      description: 'The weather of the next days in a city. It is made up.',
      inputSchema: z.object({
        city: z.string().describe('Name of the city, such as Oslo'),
        days: z.number().int().min(1).max(7).default(3).describe('Number of days'),
      }),
      outputSchema: Forecast,
      // Hosts may repeat a tool that only reads, and need not ask before it runs.
      annotations: { readOnlyHint: true },
    },
    ({ city, days }) => {
      const result = forecast(city, new Date(), days)
      const lines = result.days.map(
        ({ date, celsius, rain }) => `${date}: ${celsius} °C, ${rain ? 'rain' : 'dry'}`,
      )
      return { content: [{ type: 'text', text: lines.join('\n') }], structuredContent: result }
    },
  )

  server.registerResource(
    'cities',
    'weather://cities',
    { title: 'Cities with weather', mimeType: 'application/json' },
    ({ href: uri }) => ({
      contents: [
        { uri, mimeType: 'application/json', text: JSON.stringify(Object.keys(climates)) },
      ],
    }),
  )
  return server
}

// Standard output belongs to the protocol: write logs with console.error.
serveStdio(createServer)
