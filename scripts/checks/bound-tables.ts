/**
 * Which tables a statement reads or changes without comparing them with the organization of its caller. The statement
 * is parsed, and from its conditions follows which references to tables, and which columns of subqueries, are bound to
 * one organization.
 */
import { getTableColumns, getTableName, is, Placeholder } from 'drizzle-orm'
import { SQLiteTable } from 'drizzle-orm/sqlite-core'
import {
  type AstNode,
  type Expr,
  type FromClause,
  type OneSelect,
  parseStmtOrThrow,
  type ResultColumn,
  type Select,
  type SelectTable,
  type SetAssignment,
  type Stmt,
  traverse,
  type With,
} from 'sqlite3-parser'
import * as schema from '../../src/db/schema.ts'
import type { Statement } from '../../src/db/statement.ts'

/** The columns of each table, in order. */
const COLUMNS: ReadonlyMap<string, readonly string[]> = new Map(
  Object.values(schema)
    .filter((table) => is(table, SQLiteTable))
    .map((table): [string, string[]] => [getTableName(table), Object.keys(getTableColumns(table))]),
)

/** The column with the organization of a row; undefined for tables that belong to none. */
function organizationColumnOf(table: string): string | undefined {
  if (table === 'organizations') return 'id'
  return COLUMNS.get(table)?.includes('organizationId') ? 'organizationId' : undefined
}

/**
 * What a column means in the rows of the organization. A hash is of a random token, and a primary key: equal hashes are
 * of one row.
 */
function meaningIn(table: string, column: string): Meaning | undefined {
  if (column === organizationColumnOf(table)) return 'organization'
  return column === 'hash' && COLUMNS.get(table)?.includes(column) ? `hash in ${table}` : undefined
}

/** A reference to a table, by which a statement names its columns. */
interface TableSource {
  readonly node: AstNode
  readonly alias: string
  readonly table: string
}

/**
 * A subquery in a FROM clause, a CTE, or a table function: a list of columns, each with what is known of its values.
 */
interface QuerySource {
  readonly alias: string
  readonly columns: readonly Column[]
}

type Source = TableSource | QuerySource

interface Column {
  readonly name: string
  readonly meaning?: Meaning | undefined
}

/**
 * What is known of a value, if it is not NULL: it is the ID of the organization, or the hash of a row of it in a table.
 */
type Meaning = 'organization' | `hash in ${string}`

interface Scope {
  readonly sources: readonly Source[]
  readonly outer: Scope | undefined
  readonly ctes: ReadonlyMap<string, readonly Column[]>
}

/** Bits of the type of a join. */
const NATURAL = 4
const LEFT = 8
const RIGHT = 16

const NO_SCOPE: Scope = { sources: [], outer: undefined, ctes: new Map() }

/** A condition, and the only sources that it says something of: a left join has rows where its condition is false. */
interface Condition {
  readonly expr: Expr
  readonly only?: readonly Source[]
}

export interface ParsedStatement {
  readonly root: Stmt
  /** The names of the placeholders, by their offset in the SQL. */
  readonly placeholders: ReadonlyMap<number, string>
  readonly beginning: Beginning
}

/**
 * What the organization of a statement is: that of the caller's API key; an `organizationId` that the statement is
 * bound to; or that of the rows of one of its tables.
 */
type Beginning = 'caller' | 'given' | AstNode

const GUARD = ['caller.keyHash', 'caller.scope']

/** A statement that begins from a table: the one that leaves the fewest others unbound. */
export function parseStatement({ sql, params }: Pick<Statement, 'sql' | 'params'>): ParsedStatement {
  const { root } = parseStmtOrThrow(sql)
  const offsets: number[] = []
  const tables: AstNode[] = [root]
  traverse(root, {
    nodes: {
      VariableExpr: ({ span }) => void offsets.push(span.offset),
      TableSelectTable: (node) => void tables.push(node),
    },
  })
  const names = params.map((param) => (is(param, Placeholder) ? param.name : ''))
  const placeholders = new Map(offsets.sort((a, b) => a - b).map((offset, index) => [offset, names[index] ?? '']))
  if (GUARD.every((name) => names.includes(name))) return { root, placeholders, beginning: 'caller' }
  let isGiven = false
  traverse(root, {
    enter(node) {
      isGiven ||= isGivenOrganization(node, placeholders)
    },
  })
  if (isGiven) return { root, placeholders, beginning: 'given' }
  const [parsed] = tables
    .map((beginning) => ({ root, placeholders, beginning }))
    .map((each) => ({ ...each, unbound: unboundTables(each).length }))
    .sort((a, b) => a.unbound - b.unbound)
  return parsed ?? { root, placeholders, beginning: root }
}

/** A bound `organizationId`, also of a row in JSON. */
function isGivenOrganization(node: AstNode, placeholders: ReadonlyMap<number, string>): boolean {
  if (node.type === 'VariableExpr') return placeholders.get(node.span.offset) === 'organizationId'
  return (
    node.type === 'BinaryExpr' &&
    node.op.startsWith('ArrowRight') &&
    node.right.type === 'StringLiteral' &&
    node.right.value === 'organizationId'
  )
}

/** The references to tables that are not bound to the organization: `table`, or `table as alias`. */
export function unboundTables(parsed: ParsedStatement): string[] {
  return new Analysis(parsed).run()
}

class Analysis {
  readonly #parsed: ParsedStatement
  readonly #bound = new Set<Source>()
  /** What is unbound, by where it is. */
  readonly #unbound = new Map<AstNode, string>()

  constructor(parsed: ParsedStatement) {
    this.#parsed = parsed
  }

  run(): string[] {
    const { root } = this.#parsed
    if (root.type === 'SelectStmt') this.#select(root.body, NO_SCOPE)
    else if (root.type === 'InsertStmt') this.#insert(root)
    else if (root.type === 'UpdateStmt' || root.type === 'DeleteStmt') this.#change(root)
    else throw new Error(`A statement of another kind: ${root.type}`)
    return [...this.#unbound.values()]
  }

  #change(root: Extract<Stmt, { type: 'UpdateStmt' | 'DeleteStmt' }>): void {
    const ctes = this.#ctesOf(root.with, NO_SCOPE)
    const { objName, alias } = root.tblName
    const target = this.#tableSource(root, alias?.text ?? objName.text, objName.text)
    const from = root.type === 'UpdateStmt' ? root.from : undefined
    const { sources, conditions } = this.#from(from, { ...NO_SCOPE, ctes })
    const scope = { sources: [target, ...sources], outer: undefined, ctes }
    if (root.whereClause) conditions.push({ expr: root.whereClause })
    this.#bind(scope, conditions)
    this.#visit([root.whereClause, ...conditions.map(({ expr }) => expr)], scope)
    this.#visitResults(root.returning, scope)
    if (root.type !== 'UpdateStmt') return
    this.#refuseReplace(root, target.table)
    this.#sets(root.sets, target.table, scope)
  }

  /** OR REPLACE deletes the rows that have the same value under any unique index. */
  #refuseReplace(root: Extract<Stmt, { type: 'InsertStmt' | 'UpdateStmt' }>, table: string): void {
    if (root.orConflict === 'Replace' && organizationColumnOf(table) !== undefined)
      this.#unbound.set(root, `replaced ${table}`)
  }

  #sets(sets: readonly SetAssignment[], table: string, scope: Scope): void {
    for (const { colNames, expr } of sets) {
      const index = colNames.findIndex(({ text }) => text === organizationColumnOf(table))
      const isOrganization = index < 0 || this.#meaningsOf(expr, scope)[index] === 'organization'
      if (!isOrganization) this.#unbound.set(expr, `${table} in another organization`)
      this.#visit([expr], scope)
    }
  }

  /** What is known of each value of a row. */
  #meaningsOf(expr: Expr, scope: Scope): (Meaning | undefined)[] {
    if (expr.type !== 'SubqueryExpr') return rowOf(expr).map((value) => this.#meaningOf(value, scope))
    return this.#tentatively(() => this.#select(expr.select, scope)).map(({ meaning }) => meaning)
  }

  #insert(root: Extract<Stmt, { type: 'InsertStmt' }>): void {
    const ctes = this.#ctesOf(root.with, NO_SCOPE)
    const table = root.tblName.objName.text
    if (root.body.type !== 'SelectInsertBody') throw new Error('An insert without a select')
    const inserted = this.#select(root.body.select, { ...NO_SCOPE, ctes })
    const names = root.columns?.map(({ text }) => text) ?? COLUMNS.get(table) ?? []
    const organizationColumn = organizationColumnOf(table)
    const isBound =
      organizationColumn === undefined || inserted[names.indexOf(organizationColumn)]?.meaning === 'organization'
    if (!isBound) this.#unbound.set(root.body, `inserted ${table}`)

    this.#refuseReplace(root, table)
    const target = this.#tableSource(root, root.tblName.alias?.text ?? table, table)
    this.#bound.add(target)
    const excluded = names.map((name, index) => ({
      name,
      meaning: inserted[index]?.meaning,
    }))
    const scope = { sources: [target, { alias: 'excluded', columns: excluded }], outer: undefined, ctes }
    for (let { upsert } = root.body; upsert; upsert = upsert.next) {
      if (upsert.doClause.type !== 'SetUpsertDo') continue
      const keys = upsert.index?.targets.map(({ expr }) => columnOf(expr)?.column)
      // The conflicting row is of the same organization only if the key has the organization.
      if (organizationColumn !== undefined && !keys?.includes(organizationColumn))
        this.#unbound.set(upsert, `conflicting ${table}`)
      this.#sets(upsert.doClause.sets, table, scope)
      this.#visit([upsert.doClause.whereClause], scope)
    }
    this.#visitResults(root.returning, scope)
  }

  #ctesOf(clause: With | undefined, scope: Scope): Map<string, readonly Column[]> {
    const ctes = new Map(scope.ctes)
    for (const { tblName, columns, select } of clause?.ctes ?? []) {
      const named = (found: readonly Column[]) =>
        found.map(({ name, meaning }, index) => ({
          name: columns?.[index]?.colName.text ?? name,
          meaning,
        }))
      // A recursive CTE reads itself: what is known of its rows from its first part has to follow from all parts again.
      let known = named(this.#tentatively(() => this.#core(select.select, { ...scope, ctes })))
      for (let count = -1; count !== countKnown(known); ) {
        count = countKnown(known)
        ctes.set(tblName.text, known)
        const all = this.#tentatively(() => this.#select(select, { ...scope, ctes }))
        known = named(all).map(({ name, meaning }, index) => ({
          name,
          meaning: meaning === known[index]?.meaning ? meaning : undefined,
        }))
      }
      this.#select(select, { ...scope, ctes })
    }
    return ctes
  }

  /**
   * @returns the columns of the rows.
   * @param compared the values that the rows are compared with, by column: those of IN.
   */
  #select(select: Select, outer: Scope, compared: readonly Expr[] = []): Column[] {
    const scope = { ...outer, ctes: this.#ctesOf(select.with, outer) }
    const [first = [], ...others] = [select.select, ...(select.compounds ?? []).map((part) => part.select)].map(
      (part) =>
        // LIMIT counts rows before they are compared.
        this.#core(part, scope, select.limit ? [] : compared, [
          ...(select.orderBy ?? []).map(({ expr }) => expr),
          select.limit?.expr,
          select.limit?.offset,
        ]),
    )
    return first.map(({ name, meaning }, index) => ({
      name,
      meaning: others.every((part) => part[index]?.meaning === meaning) ? meaning : undefined,
    }))
  }

  #core(
    core: OneSelect,
    outer: Scope,
    compared: readonly Expr[] = [],
    further: readonly (Expr | undefined)[] = [],
  ): Column[] {
    if (core.type === 'SelectValues') {
      const [row] = core.values
      this.#visit(
        core.values.flatMap(({ values }) => values),
        outer,
      )
      return (row?.values ?? []).map((_, index) => ({ name: `column${index + 1}` }))
    }
    const { sources, conditions } = this.#from(core.from, outer)
    const scope: Scope = { sources, outer, ctes: outer.ctes }
    if (core.windowClause) throw new Error('A named window')
    if (core.whereClause) conditions.push({ expr: core.whereClause })
    // Groups, aggregates and windows read their rows before they are compared.
    const areRows =
      !core.groupBy &&
      core.columns.every((column) => column.type === 'ExprResultColumn' && columnOf(column.expr) !== undefined)
    this.#bind(scope, conditions, () => {
      for (const [index, value] of areRows ? compared.entries() : []) {
        const column = core.columns[index]
        if (column?.type === 'ExprResultColumn') this.#mark(column.expr, this.#meaningOf(value, outer), scope)
      }
    })
    // HAVING is a condition of groups, whose rows were read before.
    const others = [core.having, ...(core.groupBy ?? []), ...further]
    this.#visit([...conditions.map(({ expr }) => expr), ...others], scope)
    this.#visitResults(core.columns, scope)
    return core.columns.flatMap((column) => this.#resultOf(column, scope))
  }

  #resultOf(column: ResultColumn, { sources, ...scope }: Scope): Column[] {
    if (column.type === 'ExprResultColumn') {
      const name = column.alias?.name.text ?? columnOf(column.expr)?.column ?? ''
      return [{ name, meaning: this.#meaningOf(column.expr, { sources, ...scope }) }]
    }
    const all = column.type === 'StarResultColumn'
    return sources
      .filter(({ alias }) => all || alias === column.table.text)
      .flatMap((source) =>
        'columns' in source
          ? source.columns
          : (COLUMNS.get(source.table) ?? []).map((name) => ({
              name,
              meaning: this.#meaningOfColumn(source, name),
            })),
      )
  }

  #from(from: FromClause | undefined, outer: Scope): { sources: Source[]; conditions: Condition[] } {
    const sources: Source[] = []
    const conditions: Condition[] = []
    const add = (table: SelectTable): Source[] => {
      if (table.type === 'SubSelectTable') {
        const nested = this.#from(table.from, outer)
        sources.push(...nested.sources)
        conditions.push(...nested.conditions)
        return nested.sources
      }
      const source = this.#sourceOf(table, { ...outer, sources, outer })
      sources.push(source)
      return [source]
    }
    if (from?.select) add(from.select)
    for (const { operator, table, constraint } of from?.joins ?? []) {
      const joined = add(table)
      const type = (operator.type === 'TypedJoinJoinOperator' && operator.joinType) || 0
      if (type & (RIGHT | NATURAL) || constraint?.type === 'UsingJoinConstraint')
        throw new Error('A join of another kind')
      if (constraint) conditions.push({ expr: constraint.expr, ...(type & LEFT ? { only: joined } : {}) })
    }
    return { sources, conditions }
  }

  #sourceOf(table: Exclude<SelectTable, { type: 'SubSelectTable' }>, scope: Scope): Source {
    const alias = table.alias?.name.text
    if (table.type === 'SelectSelectTable')
      return { alias: alias ?? '', columns: this.#select(table.select, scope.outer ?? NO_SCOPE) }
    const name = table.tblName.objName.text
    if (table.type === 'TableCallSelectTable') {
      this.#visit(table.args ?? [], scope)
      return {
        alias: alias ?? name,
        columns: [{ name: 'key' }, { name: 'value' }],
      }
    }
    const columns = table.tblName.dbName ? undefined : scope.ctes.get(name)
    return columns ? { alias: alias ?? name, columns } : this.#tableSource(table, alias ?? name, name)
  }

  #tableSource(node: AstNode, alias: string, table: string): TableSource {
    if (!COLUMNS.has(table) && table !== 'd1_migrations') throw new Error(`A table of another name: ${table}`)
    const source = { node, alias, table }
    if (this.#parsed.beginning === node) this.#bound.add(source)
    return source
  }

  /** Follows the conditions until nothing more is bound. Then each table has to be. */
  #bind(scope: Scope, conditions: readonly Condition[], also = () => {}): void {
    let before: number
    do {
      before = this.#bound.size
      for (const { expr, only } of conditions) this.#apply(expr, scope, only)
      also()
    } while (this.#bound.size > before)
    for (const source of scope.sources) {
      if (!('table' in source) || this.#bound.has(source)) continue
      if (organizationColumnOf(source.table) === undefined) continue
      this.#unbound.set(
        source.node,
        source.alias === source.table ? source.table : `${source.table} as ${source.alias}`,
      )
    }
  }

  #apply(expr: Expr, scope: Scope, only: readonly Source[] | undefined): void {
    if (expr.type === 'ParenthesizedExpr' && expr.exprs.length === 1) {
      for (const inner of expr.exprs) this.#apply(inner, scope, only)
    } else if (expr.type === 'BinaryExpr' && expr.op === 'And') {
      this.#apply(expr.left, scope, only)
      this.#apply(expr.right, scope, only)
    } else if (expr.type === 'BinaryExpr' && expr.op === 'Or') {
      this.#either(expr.left, expr.right, scope, only)
    } else if (expr.type === 'BinaryExpr' && (expr.op === 'Equals' || expr.op === 'Is')) {
      this.#equal(rowOf(expr.left), rowOf(expr.right), scope, only)
    } else if (expr.type === 'InSelectExpr' && !expr.not) {
      const columns = this.#tentatively(() => this.#select(expr.rhs, scope, rowOf(expr.lhs)))
      for (const [index, value] of rowOf(expr.lhs).entries()) {
        this.#mark(value, columns[index]?.meaning, scope, only)
      }
    }
  }

  /** A source is bound by OR if both sides bind it. */
  #either(left: Expr, right: Expr, scope: Scope, only: readonly Source[] | undefined): void {
    const following = [left, right].map((expr) =>
      this.#tentatively(() => {
        this.#apply(expr, scope, only)
        return new Set(this.#bound)
      }),
    )
    for (const source of following[0] ?? []) if (following[1]?.has(source)) this.#bound.add(source)
  }

  #equal(left: readonly Expr[], right: readonly Expr[], scope: Scope, only: readonly Source[] | undefined): void {
    for (const [index, a] of left.entries()) {
      const b = right[index]
      if (b === undefined) continue
      this.#mark(b, this.#meaningOf(a, scope), scope, only)
      this.#mark(a, this.#meaningOf(b, scope), scope, only)
      if (this.#isCallersHash(a, b, scope)) this.#markSource(sourceOf(a, scope), scope, only)
    }
  }

  /** The caller's API key is found by its hash. */
  #isCallersHash(a: Expr, b: Expr, scope: Scope): boolean {
    const source = sourceOf(a, scope)
    const value = b.type === 'UnaryExpr' && b.op === 'Positive' ? b.expr : b
    return (
      source !== undefined &&
      'table' in source &&
      source.table === 'apiKeys' &&
      columnOf(a)?.column === 'hash' &&
      value.type === 'VariableExpr' &&
      this.#parsed.placeholders.get(value.span.offset) === 'caller.keyHash'
    )
  }

  /** The column has this value, so if it means the same in the rows of the organization, its row is one of them. */
  #mark(expr: Expr, meaning: Meaning | undefined, scope: Scope, only?: readonly Source[]): void {
    const source = sourceOf(expr, scope)
    if (!meaning || !source || !('table' in source)) return
    if (meaningIn(source.table, columnOf(expr)?.column ?? '') === meaning) this.#markSource(source, scope, only)
  }

  #markSource(source: Source | undefined, { sources }: Scope, only: readonly Source[] | undefined): void {
    // A condition says nothing of the rows of an outer query.
    if (source && sources.includes(source) && (only === undefined || only.includes(source))) this.#bound.add(source)
  }

  #meaningOf(expr: Expr, scope: Scope): Meaning | undefined {
    if (expr.type === 'ParenthesizedExpr' && expr.exprs[0] && expr.exprs.length === 1)
      return this.#meaningOf(expr.exprs[0], scope)
    // It only keeps SQLite from using an index, or from planning for the value.
    if (expr.type === 'UnaryExpr' && expr.op === 'Positive') return this.#meaningOf(expr.expr, scope)
    if (expr.type === 'SubqueryExpr') return this.#tentatively(() => this.#select(expr.select, scope))[0]?.meaning
    const { placeholders, beginning } = this.#parsed
    if (beginning === 'given' && isGivenOrganization(expr, placeholders)) return 'organization'
    const source = sourceOf(expr, scope)
    return source && this.#meaningOfColumn(source, columnOf(expr)?.column ?? '')
  }

  #meaningOfColumn(source: Source, column: string): Meaning | undefined {
    if ('columns' in source) return source.columns.find(({ name }) => name === column)?.meaning
    return this.#bound.has(source) ? meaningIn(source.table, column) : undefined
  }

  /** Returns what `find` finds, without other effects on the analysis. */
  #tentatively<Result>(find: () => Result): Result {
    const [bound, unbound] = [[...this.#bound], [...this.#unbound]]
    const result = find()
    this.#bound.clear()
    this.#unbound.clear()
    for (const source of bound) this.#bound.add(source)
    for (const [node, name] of unbound) this.#unbound.set(node, name)
    return result
  }

  #visitResults(columns: readonly ResultColumn[] | undefined, scope: Scope): void {
    this.#visit(
      (columns ?? []).map((column) => (column.type === 'ExprResultColumn' ? column.expr : undefined)),
      scope,
    )
  }

  /** Checks the subqueries of expressions. */
  #visit(exprs: readonly (Expr | undefined)[], scope: Scope): void {
    for (const expr of exprs) {
      if (!expr) continue
      traverse(expr, {
        enter: (node: AstNode) => {
          if (node.type === 'InSelectExpr') {
            this.#visit([node.lhs], scope)
            this.#select(node.rhs, scope, rowOf(node.lhs))
            return 'skip'
          }
          if (node.type === 'SubqueryExpr' || node.type === 'ExistsExpr') {
            this.#select(node.select, scope)
            return 'skip'
          }
          return 'continue'
        },
      })
    }
  }
}

function countKnown(columns: readonly Column[]): number {
  return columns.filter(({ meaning }) => meaning !== undefined).length
}

/** `(a, b)` is a row of two; everything else a row of one. */
function rowOf(expr: Expr): readonly Expr[] {
  return expr.type === 'ParenthesizedExpr' ? expr.exprs : [expr]
}

function columnOf(expr: Expr): { table: string | undefined; column: string } | undefined {
  if (expr.type === 'QualifiedExpr') return { table: expr.table.text, column: expr.column.text }
  if (expr.type === 'Id') return { table: undefined, column: expr.name }
  return undefined
}

/** The source of a column: of the innermost query that has it. */
function sourceOf(expr: Expr, scope: Scope | undefined): Source | undefined {
  const named = columnOf(expr)
  if (!named || !scope) return undefined
  const found = scope.sources.find((source) =>
    named.table === undefined ? hasColumn(source, named.column) : source.alias === named.table,
  )
  return found ?? sourceOf(expr, scope.outer)
}

function hasColumn(source: Source, column: string): boolean {
  if ('columns' in source) return source.columns.some(({ name }) => name === column)
  return COLUMNS.get(source.table)?.includes(column) ?? false
}

/** A comparison with an organization column. */
export interface Comparison {
  /** The condition that it is of, as it is in the SQL. */
  readonly condition: string
  /** Takes the comparison out of the parsed statement. @returns what puts it back. */
  remove(): () => void
}

export function organizationComparisons({ root }: ParsedStatement, { sql }: Pick<Statement, 'sql'>): Comparison[] {
  const found: Comparison[] = []
  const add = (node: Expr, left: readonly Expr[], right: readonly (Expr | undefined)[] | undefined) => {
    for (const [index, value] of left.entries()) {
      const other = right?.[index]
      if (!isOrganizationColumn(value) && !isOrganizationColumn(other)) continue
      found.push({
        condition: sql.slice(node.span.offset, node.span.offset + node.span.length),
        remove: () => (left.length > 1 && right ? withoutColumn(node, index) : withoutCondition(node)),
      })
    }
  }
  traverse(root, {
    nodes: {
      BinaryExpr(node) {
        if (node.op !== 'Equals' && node.op !== 'Is') return
        const right =
          node.right.type === 'SubqueryExpr' && rowOf(node.left).length > 1
            ? resultsOf(node.right.select)
            : rowOf(node.right)
        add(node, rowOf(node.left), right)
      },
      InSelectExpr(node) {
        add(node, rowOf(node.lhs), resultsOf(node.rhs))
      },
    },
  })
  return found
}

function isOrganizationColumn(expr: Expr | undefined): boolean {
  const named = expr && columnOf(expr)
  return named?.column === 'organizationId' || (named?.table === 'organizations' && named.column === 'id')
}

/** The expressions of the columns; undefined if there are several selects, or a star. */
function resultsOf({ select, compounds }: Select): Expr[] | undefined {
  if (select.type !== 'SelectFrom' || compounds?.length) return undefined
  const exprs = select.columns.flatMap((column) => (column.type === 'ExprResultColumn' ? [column.expr] : []))
  return exprs.length === select.columns.length ? exprs : undefined
}

function withoutCondition(node: Expr): () => void {
  return changed(node, { type: 'KeywordLiteral', value: 'true' })
}

/** Takes a column out of both sides of a comparison of rows. */
function withoutColumn(node: Expr, index: number): () => void {
  const undo: (() => void)[] = []
  traverse(node, {
    nodes: {
      ParenthesizedExpr(row) {
        undo.push(changed(row, { exprs: row.exprs.toSpliced(index, 1) }))
        return 'skip'
      },
      SelectFrom(select) {
        undo.push(changed(select, { columns: select.columns.toSpliced(index, 1) }))
        return 'skip'
      },
    },
  })
  return () => {
    for (const each of undo) each()
  }
}

function changed(node: AstNode, values: object): () => void {
  const before = { ...node }
  Object.assign(node, values)
  return () => void Object.assign(node, before)
}
