import type { trail as english } from '../en/trail';
import type { Translation } from '../translation';

export const trail: Translation<typeof english> = {
  title: '审计记录',
  verify: '验证链',
  export: '导出为 NDJSON',
  lineage: '该 Release 的生命周期',
  allLineages: '所有生命周期',
  empty: '还没有条目。',
  time: '时间',
  position: '链的第 {{position}} 条',
  what: '事件',
  revision: 'Revision',
  view: '查看 Revision {{revision}}',
  status: '状态',
  then: '变为',
  who: '用户',
  session: '操作',
  replay: '查看日志',
  late: '事后发现',
  more_other: '再显示 {{count}} 条更早的条目',
  chain: {
    verified_other: '已验证：链的全部 {{count}} 条均完整',
    broken: '链从第 {{position}} 条起损坏',
    head: '链头：{{head}}',
    checked: '检查于 {{when}}。请将链头另存一份，以便发现链日后是否被改写。',
  },
  changes: {
    status: '状态变化',
    pruned: '已清理：较新的 Revision 保留',
    uninstalled: '已卸载',
    removed: '被手动删除',
  },
  kinds: {
    found: '在集群中发现',
    rewritten: '记录被改写，状态未变',
    begin: '审计记录由此开始。之前未被监视。',
    gap: '自 {{from}} 起未被监视',
    reveal: '显示了敏感信息：{{what}}',
    erased_other: '清除了 {{count}} 条记录：{{what}}',
    unreadable: '此处的条目缺失或被更改',
  },
};
