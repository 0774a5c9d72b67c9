import type { compare as english } from '../en/compare';
import type { Translation } from '../translation';

export const compare: Translation<typeof english> = {
  title: '比较 {{name}} 的修订版本',
  here: '比较',
  release: '用于比较的发布',
  from: '从',
  to: '到',
  layout: {
    label: '布局',
    split: '并排',
    unified: '统一',
  },
  all: '包括 Chart 的默认值',
  reveal: '显示机密',
  revealed: '机密以原样显示。此次查看已被记录。',
  masked: '机密已遮盖；不同的机密，其遮盖也不同。',
  identical: '没有差异。',
  unchanged: '未更改',
  more_other: '再显示 {{count}} 行',
  parts: {
    values: '值',
    manifest: '清单',
    hooks: '钩子',
    notes: '说明',
    chart: 'Chart',
  },
  changes: {
    added: '新增',
    removed: '删除',
    changed: '更改',
  },
  path: '路径',
  change: '变化',
  before: '之前',
  after: '之后',
};
