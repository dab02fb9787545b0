/** Draws the main results as SVG for docs/. The colours follow the reader's light or dark theme. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type EChartsOption, init } from 'echarts'
import { monthUsage, monthUsd } from './costs.ts'
import { mean } from './load.ts'
import { FLOOR, PEER, type Results, SERVICE } from './report.ts'

const FOLDER = join(import.meta.dirname, '..', 'docs')
const WIDTH = 560

/** The light colour, and what it becomes on a dark page. Okabe and Ito chose the hues for colour-blind readers. */
const BACKGROUND = '#ffffff'
const TEXT = '#1f2328'
const LINES = '#d1d9e0'
const BLUE = '#0072b2'
const ORANGE = '#d55e00'
const GREY = '#6e7781'
const LIGHT_BLUE = '#9ecae1'
const MIDDLE_BLUE = '#4292c6'
const DARK: Readonly<Record<string, string>> = {
  [BACKGROUND]: '#0d1117',
  [TEXT]: '#f0f6fc',
  [LINES]: '#3d444d',
  [BLUE]: '#56b4e9',
  [ORANGE]: '#e69f00',
  [GREY]: '#9198a1',
  [LIGHT_BLUE]: '#c6dbef',
  [MIDDLE_BLUE]: '#89bedc',
}

const LOOKS = [
  { contender: PEER, name: 'Hono and Drizzle', color: ORANGE, symbol: 'rect', type: 'solid', labelBy: 0 },
  { contender: SERVICE, name: 'the service', color: BLUE, symbol: 'circle', type: 'solid', labelBy: -9 },
  { contender: FLOOR, name: 'raw SQL, one batch', color: GREY, symbol: 'triangle', type: 'dashed', labelBy: 9 },
] as const

export function writePictures(results: Results): void {
  const pictures = {
    latency: latency(results),
    cost: cost(results),
    'start-up': startUp(results),
    growth: growth(results),
  }
  for (const [name, { height, option }] of Object.entries(pictures)) {
    writeFileSync(join(FOLDER, `${name}.svg`), draw(height, option))
  }
}

interface Picture {
  readonly height: number
  readonly option: EChartsOption
}

function draw(height: number, option: EChartsOption): string {
  const chart = init(null, null, { renderer: 'svg', ssr: true, width: WIDTH, height })
  chart.setOption({
    animation: false,
    backgroundColor: BACKGROUND,
    textStyle: { fontFamily: 'system-ui, sans-serif', fontSize: 15, color: TEXT },
    ...option,
  })
  const svg = chart.renderToSVGString()
  chart.dispose()
  const rules = Object.entries(DARK).flatMap(([light, dark]) =>
    ['fill', 'stroke'].map((property) => `[${property}="${light}"]{${property}:${dark}}`),
  )
  return `${svg.replace('>', `>\n<style>@media (prefers-color-scheme:dark){${rules.join('')}}</style>`)}\n`
}

const title = (text: string, subtext: string): NonNullable<EChartsOption['title']> => ({
  text,
  subtext,
  left: 12,
  top: 8,
  textStyle: { fontSize: 18, color: TEXT },
  subtextStyle: { fontSize: 14, color: TEXT, lineHeight: 19 },
})

const axis = (name: string, options: object = {}) => ({
  name,
  nameLocation: 'middle' as const,
  nameGap: 32,
  nameTextStyle: { fontSize: 14, color: TEXT },
  axisLabel: { fontSize: 14, color: TEXT },
  axisLine: { lineStyle: { color: LINES } },
  axisTick: { lineStyle: { color: LINES } },
  splitLine: { lineStyle: { color: LINES } },
  ...options,
})

const legend = (top: number): NonNullable<EChartsOption['legend']> => ({
  top,
  left: 12,
  itemGap: 18,
  textStyle: { fontSize: 14, color: TEXT },
})

function latency({ distance }: Results): Picture {
  const distances = distance[0]?.p50Ms.map(([distanceMs]) => distanceMs) ?? []
  const meanAt = (contender: string, index: number) =>
    mean(distance.filter((row) => row.contender === contender).map(({ p50Ms }) => p50Ms[index]?.[1] ?? Number.NaN))
  return {
    height: 400,
    option: {
      title: title('Latency of a request', 'Mean of the medians of the seven core operations'),
      legend: legend(62),
      grid: { left: 70, right: 36, top: 108, bottom: 56 },
      xAxis: axis('distance to the database, ms for a round trip', { type: 'value', max: distances.at(-1) }),
      yAxis: axis('latency, ms', { type: 'value', nameGap: 46 }),
      series: LOOKS.map(({ contender, name, color, symbol, type, labelBy }) => ({
        type: 'line',
        name,
        symbol,
        symbolSize: 9,
        itemStyle: { color },
        lineStyle: { width: 3, color, type },
        endLabel: {
          show: true,
          formatter: (point) => whole((point.value as number[])[1]),
          color: TEXT,
          fontSize: 14,
          offset: [0, labelBy],
        },
        data: distances.map((distanceMs, index) => [distanceMs, meanAt(contender, index)]),
      })),
    },
  }
}

const TEAMS = [10, 30, 100, 300, 1000, 3000, 10_000]
const AGENTS_PER_PERSON = 2
const REQUESTS = { person: 150, agent: 500 }
const RUNS_PER_PERSON = 48

function cost({ counted }: Results): Picture {
  const usdOf = (people: number) =>
    monthUsd(
      monthUsage(counted, {
        name: '',
        requestsADay: people * (REQUESTS.person + AGENTS_PER_PERSON * REQUESTS.agent),
        runsADay: people * RUNS_PER_PERSON,
      }),
    )
  return {
    height: 420,
    option: {
      title: title(
        'What a team pays Cloudflare in a month',
        'Workers Paid plan. Each person has two agents;\ntogether they send 1,150 requests and have 48 runs a day',
      ),
      grid: { left: 78, right: 40, top: 110, bottom: 56 },
      xAxis: axis('people', {
        type: 'category',
        data: TEAMS.map(whole),
        splitLine: { show: false },
      }),
      yAxis: axis('USD a month', {
        type: 'log',
        nameGap: 54,
        min: 1,
        axisLabel: { fontSize: 14, color: TEXT, formatter: whole },
      }),
      series: [
        {
          type: 'line',
          symbol: 'circle',
          symbolSize: 9,
          itemStyle: { color: BLUE },
          lineStyle: { width: 3, color: BLUE },
          label: { show: true, position: 'top', color: TEXT, fontSize: 14, formatter: ({ value }) => whole(value) },
          data: TEAMS.map(usdOf),
        },
      ],
    },
  }
}

function startUp({ startUp: { startUps, firstRequests } }: Results): Picture {
  const operations = [...new Set(firstRequests.map(({ operation }) => operation))]
  const timesOf = (contender: string) => [
    startUps.find((row) => row.contender === contender)?.ms,
    ...operations.map((operation) => {
      const row = firstRequests.find((each) => each.contender === contender && each.operation === operation)
      return row && Math.max(0, row.firstMs - row.secondMs)
    }),
  ]
  return {
    height: 540,
    option: {
      title: title(
        'Start-up',
        'From the start of workerd to the first response, less an empty Worker;\nthen the first request of an operation, less the second',
      ),
      legend: legend(82),
      grid: { left: 204, right: 44, top: 122, bottom: 56 },
      xAxis: axis('ms', { type: 'value' }),
      yAxis: axis('', { type: 'category', inverse: true, data: ['start', ...operations], splitLine: { show: false } }),
      series: LOOKS.filter(({ contender }) => contender !== FLOOR).map(({ contender, name, color }) => ({
        type: 'bar',
        name,
        itemStyle: { color },
        label: { show: true, position: 'right', color: TEXT, fontSize: 13, formatter: ({ value }) => whole(value) },
        data: timesOf(contender).map((ms) => ms ?? '-'),
      })),
    },
  }
}

const SHADES = [LIGHT_BLUE, MIDDLE_BLUE, BLUE, TEXT]

function growth({ growth }: Results): Picture {
  const operations = [...new Set(growth.map(({ operation }) => operation))]
  const sizes = [...new Set(growth.map(({ rows }) => rows))]
  const panels = [
    { name: 'median, ms', cellOf: ({ medianMs }: Results['growth'][number]) => medianMs.toFixed(2) },
    { name: 'rows read', cellOf: ({ database }: Results['growth'][number]) => Math.round(database.rowsRead) },
  ]
  return {
    height: 560,
    option: {
      title: title('Growth', 'The same request in a small and in a large table'),
      legend: legend(62),
      grid: [
        { left: 204, width: 122, top: 104, bottom: 56 },
        { left: 388, width: 122, top: 104, bottom: 56 },
      ],
      xAxis: panels.map(({ name }, gridIndex) => axis(name, { type: 'value', gridIndex, splitNumber: 2 })),
      yAxis: panels.map((_, gridIndex) =>
        axis('', {
          type: 'category',
          inverse: true,
          gridIndex,
          data: operations,
          splitLine: { show: false },
          ...(gridIndex > 0 && { axisLabel: { show: false } }),
        }),
      ),
      series: panels.flatMap(({ cellOf }, index) =>
        sizes.map((size, shade) => ({
          type: 'bar' as const,
          name: `${whole(size)} rows`,
          xAxisIndex: index,
          yAxisIndex: index,
          itemStyle: { color: SHADES[shade] as string },
          label: { show: true, position: 'right' as const, color: TEXT, fontSize: 12 },
          data: operations.map((operation) => {
            const row = growth.find((each) => each.operation === operation && each.rows === size)
            return row ? cellOf(row) : '-'
          }),
        })),
      ),
    },
  }
}

function whole(value: unknown): string {
  return Math.round(Number(value)).toLocaleString('en')
}
