import type { trail as english } from '../en/trail';
import type { Translation } from '../translation';

export const trail: Translation<typeof english> = {
  title: '轨迹',
  verify: '验证链',
  export: '导出为 NDJSON',
  life: '该发布的生命周期',
  allLives: '所有生命周期',
  empty: '尚未见到任何记录。',
  time: '时间',
  position: '链的第 {{position}} 条',
  what: '发生了什么',
  revision: '修订版本',
  view: '查看修订版本 {{revision}}',
  status: '状态',
  then: '然后',
  who: '操作者',
  session: '操作',
  replay: '回放',
  late: '事后发现',
  more_other: '再显示 {{count}} 条更早的记录',
  chain: {
    verified_other: '已验证：链的全部 {{count}} 条均有效',
    broken: '链从第 {{position}} 条起无效',
    head: '链头：{{head}}',
    checked: '检查于 {{when}}。请将链头另行保存，以便日后判断链是否被改写。',
  },
  changes: {
    status: '状态更改',
    pruned: '已清理：保留了更新的修订版本',
    uninstalled: '已卸载',
    removed: '被手动删除',
  },
  kinds: {
    found: '发现时的状态',
    rewritten: '记录被改写，状态未变',
    begin: '轨迹由此开始；之前未被监视',
    gap: '自 {{from}} 起未被监视',
    reveal: '显示了机密：{{what}}',
    erased_other: '清除了 {{count}} 条记录：{{what}}',
    unreadable: '此处的记录缺失或被更改',
  },
};
