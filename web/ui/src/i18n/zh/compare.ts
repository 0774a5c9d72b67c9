import type { compare as english } from '../en/compare';
import type { Translation } from '../translation';

export const compare: Translation<typeof english> = {
  title: '比较 {{name}} 的修订版本',
  here: '比较',
  cluster: '集群',
  thisRelease: '发布',
  gone: '已不在集群中',
  erased: '已清除',
  lineage: {
    from: '用于比较的生命周期',
    to: '该发布的生命周期',
    alive: '安装于 {{since}}',
    ended: '安装于 {{since}}，最后出现于 {{until}}',
  },
  release: '用于比较的发布',
  from: '从',
  to: '到',
  layout: {
    label: '布局',
    split: '并排',
    unified: '统一',
  },
  all: '包括 Chart 的默认值',
  reveal: {
    button: '显示机密',
    hide: '遮盖机密',
    title: '显示机密？',
    body: '此处显示的密码和其他机密将以原样显示。您的查看及其时间会被永久记录。',
    confirm: '显示并记录',
    done: '机密以原样显示。此次显示已被记录。',
  },
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
