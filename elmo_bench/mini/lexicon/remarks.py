"""What people say between quotation marks, by field; the notation is that of `relations`."""

REMARKS = """
sport speaker:person club:club other:footballer number:count date:date
  play.01 ARG0=we/PRP ARGM-MNR=very/RB_well/RB ARGM-TMP?=date
  play.01 ARG0=we/PRP ARGM-MNR=badly/RB ARGM-TMP?=date
  deserve.01 ARG0=we/PRP ARG1=the/DT_win/NN @active
  deserve.01 ARG0=they/PRP ARG1=the/DT_point/NN @active
  be.01 ARG1=speaker ARG2=proud/JJ_of/IN_the/DT_team/NN @present
  be.01 ARG1=speaker ARG2=tired/JJ_but/CC_happy/JJ @present
  make.01 ARG0=other ARG1=the/DT_difference/NN @active
  be.01 ARG1=other ARG2=the/DT_best/JJS_player/NN_on/IN_the/DT_pitch#ground/NN
  know.01 ARG0=speaker ARG1=[club]_very/RB_well/RB @present @active
  respect.01 ARG0=we/PRP ARG1=club @present @active
  miss.02 ARG0=we/PRP ARG1=other ARGM-TMP?=date @active
  want.01 ARG0=speaker ARG1=more/JJR_goals/NNS @present @active
  need.01 ARG0=the/DT_fans/NNS ARG1=a/DT_victory/NN @present @active
business speaker:person company:company other:executive number:count date:date
  expect.01 ARG0=we/PRP ARG1=strong/JJ_growth/NN ARGM-TMP=next/JJ_year/NN @present @active
  trust.02 ARG0=we/PRP ARG1=other @present @active
  be.01 ARG1=the/DT_market/NN ARG2=difficult/JJ @present
  be.01 ARG1=speaker ARG2=confident/JJ @present
  lose.02 ARG0=we/PRP ARG1=[number]_customers/NNS ARGM-TMP?=date @active
  need.01 ARG0=we/PRP ARG1=new/JJ_ideas/NNS @present @active
  admire.01 ARG0=speaker ARG1=other @present @active
  know.01 ARG0=speaker ARG1=the/DT_business/NN @present @active
  keep.01 ARG0=[company] ARG1=its/PRP$_promises/NNS @present @active
  rise.01 ARG1=our/PRP$_costs/NNS ARGM-MNR=sharply/RB ARGM-TMP?=date
politics speaker:person other:politician town:town number:count date:date
  want.01 ARG0=the/DT_people/NNS_of/IN_[town] ARG1=change/NN @present @active
  need.01 ARG0=this/DT_country/NN ARG1=jobs/NNS_and/CC_schools/NNS @present @active
  support.01 ARG0=speaker ARG1=the/DT_plan/NN @present @active
  reject.01 ARG0=speaker ARG1=the/DT_accusation/NN @present @active
  be.01 ARG1=other ARG2=an/DT_honest/JJ_politician/NN @present
  be.01 ARG1=the/DT_talks/NNS ARG2=useful/JJ
  trust.02 ARG0=the/DT_voters/NNS ARG1=other @present @active
  thank.01 ARG0=speaker ARG1=[number]_voters/NNS @present @active
  love.01 ARG0=speaker ARG1=town @present @active
arts speaker:person other:artist town:town work:work date:date
  enjoy.01 ARG0=speaker ARG1=every/DT_minute/NN @active
  write.01 ARG0=speaker ARG1=it/PRP ARGM-LOC?=in:town ARGM-TMP?=date @active
  admire.01 ARG0=speaker ARG1=other @present @active
  be.01 ARG1=other ARG2=a/DT_wonderful/JJ_friend/NN @present
  love.01 ARG0=speaker ARG1=work @present @active
  teach.01 ARG0=other ARG2=speaker ARG1=everything/NN @active
  miss.02 ARG0=speaker ARG1=town @present @active
  be.01 ARG1=speaker ARG2=grateful/JJ_to/TO_the/DT_audience/NN @present
"""

# Verbs that take an infinitive: lemma, frameset, tense.
WISHES = (
    ("agree", "01", "past"),
    ("refuse", "01", "past"),
    ("decide", "01", "past"),
    ("want", "01", "present"),
    ("hope", "01", "present"),
    ("plan", "01", "present"),
    ("promise", "01", "past"),
    ("try", "01", "past"),
    ("decline", "02", "past"),
    ("offer", "01", "past"),
    ("attempt", "01", "past"),
    ("intend", "01", "present"),
)
EXPECTATIONS = (("expect", "01"), ("ask", "02"), ("force", "01"), ("allow", "01"), ("tip", "03"))
SAYING = (
    ("say", "01"),
    ("add", "01"),
    ("tell", "01"),
    ("claim", "01"),
    ("explain", "01"),
    ("insist", "01"),
    ("admit", "01"),
)
REPORTING = (
    ("say", "01"),
    ("report", "01"),
    ("announce", "01"),
    ("confirm", "01"),
    ("claim", "01"),
    ("deny", "01"),
)
